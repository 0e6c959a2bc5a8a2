from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.compare.examples import draw_examples, marked
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


def systems() -> dict[str, list[Output]]:
    return {
        name: [Output(str(number), SOURCE, ("a *fire* <b>",), f"{name} saw Velmora", name) for number in numbers]
        for name, numbers in (("lead", range(20)), ("model [1]", range(5, 25)))
    }


def test_examples_are_drawn_from_what_all_systems_have():
    examples = draw_examples(systems(), VOCABULARY, 3)
    assert len(examples) == 3
    assert all(5 <= int(example.id) < 20 for example in examples)
    assert examples == draw_examples(systems(), VOCABULARY, 3)
    assert examples != draw_examples(systems(), VOCABULARY, 3, seed=1)
    assert len(draw_examples(systems(), VOCABULARY, 100)) == 15


def test_systems_without_a_common_article_have_no_examples():
    with pytest.raises(ValueError, match="every one of a, b"):
        draw_examples({"a": [Output("1", "", (), "", "a")], "b": [Output("2", "", (), "", "b")]}, None, 1)
