"""The table of answers: what each kind shows, accepts, stores and counts."""

from dataclasses import replace

import pytest

from human_eval.answers import KINDS, AnswerKind, written

NUMBERS = [(name, texts) for name, kind in KINDS.items() for texts in range(kind.texts[0], kind.texts[1] + 1)]
SMALL = [(name, texts) for name, texts in NUMBERS if texts <= 3]


@pytest.mark.parametrize(
    ("kind", "texts", "answer", "scores", "votes"),
    [
        ("pair", 2, "left", (0.5, -0.5), {(0, 1): -1}),
        ("pair", 2, "none", (0, 0), {(0, 1): 0}),
        ("pair-bad", 2, "bad", (0, 0), {(0, 1): 0}),
        ("strength", 2, "much-right", (-0.5, 0.5), {(0, 1): 1}),
        ("strength-bad", 2, "left", (0.25, -0.25), {(0, 1): -0.5}),
        ("likert-5", 3, "1 5 2", (0, 1, 0.25), {(0, 1): 1, (1, 2): -0.75, (0, 2): 0.25}),
        ("likert-7", 2, "7 6", (1, 5 / 6), {(0, 1): -1 / 6}),
        ("ranking", 3, "1 3 3", (1, 0, 0), {(0, 1): -1, (1, 2): 0, (2, 0): 1}),
        ("best-worst", 4, "C A", (0, 0.5, 1, 0.5), {(0, 2): 1, (0, 1): 0.5, (1, 3): 0}),
    ],
)
def test_what_answers_count(kind, texts, answer, scores, votes):
    assert KINDS[kind].fault(answer, texts) == ""
    assert KINDS[kind].scores(answer, texts) == pytest.approx(scores)
    for (first, second), vote in votes.items():
        assert KINDS[kind].vote(answer, texts, first, second) == pytest.approx(vote)
        assert KINDS[kind].vote(answer, texts, second, first) == pytest.approx(-vote)


@pytest.mark.parametrize(
    ("kind", "answer", "places", "values", "ends"),
    [
        ("pair", "left", (0, 1), (), (0, 0)),
        ("likert-5", "1 5 2", (0, 1, 2), (1, 5, 2), (1, 5)),
        ("ranking", "4 4 1 2", (0, 1, 2, 3), (3.5, 3.5, 1, 2), (1, 4)),
        ("best-worst", "B C", (0, 1, 2), (0, 1, -1), (-1, 1)),
        # The first and the last system wrote the same text.
        ("likert-7", "1 7", (1, 0, 1), (7, 1, 7), (1, 7)),
        ("ranking", "1 2", (0, 1, 0), (1.5, 3, 1.5), (1, 3)),
        ("ranking", "2 1", (0, 1, 0), (2.5, 1, 2.5), (1, 3)),
        ("best-worst", "A B", (0, 1, 0), (0.5, -1, 0.5), (-1, 1)),
        ("best-worst", "A B", (1, 0, 2, 1), (-0.5, 1, 0, -0.5), (-1, 1)),
    ],
)
def test_values_of_systems_on_the_scale(kind, answer, places, values, ends):
    assert KINDS[kind].values(answer, places) == values
    assert KINDS[kind].ends(len(places)) == ends


@pytest.mark.parametrize(
    ("kind", "texts", "answer"),
    [
        ("pair", 2, "bad"),
        ("pair", 2, "left right"),
        ("pair", 2, 3),
        ("strength", 2, "bad"),
        ("likert-5", 3, "1 2"),
        ("likert-5", 2, "0 6"),
        ("likert-5", 2, ""),
        ("ranking", 3, "1 2 4"),
        ("best-worst", 3, "A A"),
        ("best-worst", 3, "A D"),
    ],
)
def test_other_answers_are_refused_with_what_is_expected(kind, texts, answer):
    assert KINDS[kind].fault(answer, texts).startswith("expected ")


@pytest.mark.parametrize(
    ("kind", "texts", "number"),
    [("pair", 2, 3), ("strength-bad", 2, 6), ("likert-5", 3, 125), ("ranking", 3, 27), ("best-worst", 4, 12)],
)
def test_every_valid_answer(kind, texts, number):
    every = list(KINDS[kind].every(texts))
    assert len(set(every)) == number
    assert all(KINDS[kind].fault(answer, texts) == "" for answer in every)


@pytest.mark.parametrize(("name", "texts"), SMALL)
def test_the_largest_difference_is_one(name, texts):
    differences = [
        max(scores) - min(scores) for scores in (KINDS[name].scores(a, texts) for a in KINDS[name].every(texts))
    ]
    assert max(differences) == pytest.approx(1)
    assert KINDS[name].can_tie(texts) == (min(differences) == 0) == (name != "best-worst")


@pytest.mark.parametrize(("name", "texts"), SMALL)
def test_what_a_scale_says_of_clicks_is_what_counting_all_answers_gives(name, texts):
    kind = KINDS[name]
    assert kind.clicks(texts) == pytest.approx(AnswerKind.clicks(kind, texts))


@pytest.mark.parametrize("steps", [2, 3, 5])
@pytest.mark.parametrize("texts", [2, 3, 5])
def test_a_scale_has_fewer_steps_than_texts_or_more(steps, texts):
    kind = replace(KINDS["likert-5"], steps=steps)
    assert kind.clicks(texts) == pytest.approx(AnswerKind.clicks(kind, texts))


def test_a_scale_of_many_steps_is_not_counted_out():
    kind = replace(KINDS["likert-5"], steps=101, points=100)
    assert kind.clicks(5)[2] == pytest.approx(101**-4)
    assert kind.can_tie(5)


@pytest.mark.parametrize(("name", "texts"), NUMBERS)
def test_fields_hold_an_answer_and_no_key_means_two_things(name, texts):
    kind = KINDS[name]
    answer = next(kind.every(texts))
    fields = kind.fields("focus", texts)
    given = dict(zip(fields, answer.split(" "), strict=True))
    assert kind.answer(given, "focus", texts) == answer
    last, _ = given.popitem()
    assert kind.answer(given, "focus", texts) == ""
    assert last.startswith("focus")
    for part in fields.values():
        keys = [key for option in part.options for key in option.keys]
        assert len(keys) == len(set(keys))
        assert not {"j", "k", "u", "t", "c", "p", "d", "/", "?"} & set(keys)  # of the pages
        assert set(written(part.options).values()) == set(part.values)
        assert "" not in part.values
    assert kind.hint or not kind.distinct
