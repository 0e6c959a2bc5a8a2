from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlsum.compare.report.side_by_side import marked, side_by_side
from rlsum.pages.blocks import Piece
from rlsum.records import Output

SOURCE = "a fire broke out in Velmora .\nIlse Tannhold praised the crew ."
VOCABULARY = {"a", "fire", "in", "the", "crew", "praised", "broke", "out", ".", "Ilse"}


def test_copied_and_invented_words_are_marked():
    assert marked("Ilse fled Velmora\nin Brannock .", SOURCE, VOCABULARY) == (
        Piece("Ilse fled ", "plain"),  # a known name; an unknown word that is not in the article was not copied
        Piece("Velmora", "copied"),
        Piece("\nin ", "plain"),
        Piece("Brannock", "invented"),
        Piece(" .", "plain"),
    )
    assert "copied" not in {piece.mark for piece in marked("Velmora", SOURCE, None)}


@given(st.text())
def test_the_pieces_are_the_text(text):
    assert "".join(piece.text for piece in marked(text, SOURCE, VOCABULARY)) == text


def test_what_one_summary_alone_says_is_marked():
    pieces = marked("the crew slept", SOURCE, None, others={"the", "crew"})
    assert pieces == (Piece("the crew ", "plain"), Piece("slept", "own"))


def outputs(name: str, text: str, ids) -> dict[str, Output]:
    return {str(number): Output(str(number), SOURCE, ("a *fire* <b>",), text, name) for number in ids}


def test_chosen_articles_are_side_by_side_with_whoever_has_them():
    systems = {"lead": outputs("lead", "a fire", range(3)), "model [1]": outputs("model", "a flood", range(2))}
    two, one = side_by_side(systems, VOCABULARY, ["1", "2"])
    assert (two.id, list(two.summaries), list(one.summaries)) == ("1", ["lead", "model [1]"], ["lead"])
    assert two.summaries["model [1]"][-1] == Piece("flood", "own")
    assert {piece.mark for piece in one.summaries["lead"]} == {"plain"}  # nothing to differ from
