"""Signs of degeneration: ordinary summaries raise no alarm, and texts that are none do."""

from __future__ import annotations

import random

import pytest

from rlsum.records import Output
from rlsum.scoring.degeneration import SIGNS, LengthLimits, degeneration

NOUNS = "river council storm harbour doctor engine museum valley teacher bridge market forest".split()  # noqa: SIM905
VERBS = "closed opened repaired visited flooded sold".split()  # noqa: SIM905


def sentence(place: int) -> str:
    draw = random.Random(place)
    first, second, third = draw.sample(NOUNS, 3)
    return (
        f"The {first} near the old {second} was {draw.choice(VERBS)} on day {place}, says a {third} from town {place}."
    )


def outputs(texts) -> list[Output]:
    return [Output(str(place), f"article {place}", (), text, "s") for place, text in enumerate(texts)]


def alarms(texts, limits: LengthLimits | None = None, language: str | None = None) -> set[str]:
    shares = degeneration(outputs(texts), limits, language)
    assert shares.keys() == SIGNS.keys()
    return {name for name, share in shares.items() if share >= SIGNS[name].alarm}


ORDINARY = [sentence(place) for place in range(40)]
SHORT = [f"{name} will call Anna back ." for name in (f"Ben{place}" for place in range(40))]
JAPANESE = [f"{place}日、政府は新しい法律を発表し、東京で会議が開かれた。" for place in range(40)]
FRENCH = [f"Le maire de la ville {place} a ouvert le musée près du vieux pont." for place in range(40)]


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (ORDINARY, None),
        ([text.lower().replace(",", " ,").replace(".", " .") for text in ORDINARY], None),
        ([" ".join(sentence(7 * place + n) for n in range(12)) for place in range(40)], None),  # long ones
        (SHORT, None),
        (JAPANESE, "ja"),
        (JAPANESE, None),
        (FRENCH, "fr"),
        (FRENCH, None),
        (ORDINARY[:3], None),
    ],
)
def test_ordinary_summaries_raise_no_alarm(texts, language):
    assert alarms(texts, LengthLimits(0, 400), language) == set()
    assert alarms(texts, None, language) == set()


@pytest.mark.parametrize(
    ("texts", "limits", "language", "signs"),
    [
        (["", " ", "...", "?!", *ORDINARY], None, None, {"empty"}),
        ([f". the . the , . {place} ." for place in range(20)], None, None, {"marks"}),
        ([f"{'of the and to in a ' * 4}{place}." for place in range(20)], None, None, {"function words", "repetition"}),
        ([f"the man {'saw a dog and ' * 9}{place}." for place in range(20)], None, None, {"repetition"}),
        ([f"{text} {text} {text} {text}" for text in ORDINARY], None, None, {"repetition"}),
        (["彼は東京に行く。" * 8 + f"{place}。" for place in range(20)], None, "ja", {"repetition"}),
        ([f"le de la les des un {word} et." for word in "abcdefghij"], None, "fr", {"function words"}),
        ([f"the river � was closed on day {place}" for place in range(20)], None, None, {"broken"}),
        (["The harbour was closed on Monday."] * 20, None, None, {"same"}),
        (["The  Harbour was closed.", "the harbour was closed."] * 20, LengthLimits(0, 50), None, {"same"}),
        ([" ".join(text.split()[:12]) for text in ORDINARY], LengthLimits(0, 12), None, {"limit"}),
        ([" ".join(text.split()[:12]) for text in ORDINARY], None, None, {"limit"}),  # nobody said which
        ([" ".join(text.split()[:12]) for text in ORDINARY], LengthLimits(12, 90), None, {"minimum"}),
    ],
)
def test_degenerate_summaries_raise_the_alarm(texts, limits, language, signs):
    assert alarms(texts, limits, language) == signs


@pytest.mark.parametrize(
    ("candidate", "references", "share"),
    [
        ("blorp zyx quonk fneed {place}", 20, 1.0),  # as of random weights
        ("blorp zyx quonk fneed {place}", 9, 0.0),  # too few references to say which words there are
        ("blorp zyx the river opened", 20, 0.0),
        ("jurat noter {place}", 20, 0.0),  # words of the article
    ],
)
def test_texts_of_words_that_nobody_uses(candidate, references, share):
    rows = [
        Output(
            str(place),
            f"Jurat noter {place}.",
            (sentence(place % references),),
            candidate.format(place=f"x{place}"),
            "s",
        )
        for place in range(40)
    ]
    assert degeneration(rows)["unknown"] == share


def test_one_text_for_copies_of_one_article_is_no_sign():
    copies = [Output(str(place), "one article", (), "The harbour was closed.", "s") for place in range(20)]
    assert degeneration(copies)["same"] == 0


def test_no_outputs_have_no_signs():
    assert set(degeneration([]).values()) == {0.0}
