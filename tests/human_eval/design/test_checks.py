import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from human_eval.answers import KINDS
from human_eval.design.checks import (
    CAREFUL_LOST,
    KEPT,
    UNIT,
    articles_to_shuffle,
    can_be_shuffled,
    error_rates,
    most_failures,
    passed,
    shuffled,
    with_checks,
)
from human_eval.design.outputs import align
from human_eval.study import StudyError, TaskKey
from rlsum.records import Output

PAIR = KINDS["pair"]
ANSWERS = ("left", "right", "none")
LINES = "the mayor says the bridge fell .\nnobody was hurt in the storm ."


def scores(answers):
    return {name: PAIR.scores(answer, 2) for name, answer in answers.items()}


@given(st.integers(0, 2**32))
def test_shuffling_keeps_words_and_line_lengths_and_changes_the_order(seed):
    mixed = shuffled(LINES, LINES, random.Random(seed))
    assert Counter(mixed.split()) == Counter(LINES.split())
    assert [len(line.split()) for line in mixed.split("\n")] == [7, 7]
    assert mixed.split() != LINES.split()


JAPANESE = "市長は水曜日に橋が落ちたと述べた。けが人はいない。\n風が強かった。"
THAI = "นายกเทศมนตรีกล่าวว่าสะพานพังลงเมื่อวันพุธ ไม่มีผู้บาดเจ็บ"


@pytest.mark.parametrize(
    ("text", "can"),
    [
        *(("", False), ("a " * 50, False), ("a b c d e f g", False), (LINES, True)),
        *((JAPANESE, True), (THAI, True), ("橋が落ちた。", False), ("北京 上海 広州", False)),
        ("a b c d e f g . , ; - !", False),  # marks are no words
        ("a b c d e f g h" + " the" * 20, False),  # the same in nearly every order
        ("AI が 2024 年に東京大学で発表された論文を読んだ", True),
    ],
)
def test_only_a_text_of_many_words_can_be_shuffled(text, can):
    assert can_be_shuffled(text, text) is can


LOOP = "the mayor of the city says that nobody was hurt and " * 4


@pytest.mark.parametrize(
    ("text", "article"),
    [
        ("tax mayor hall Friday vote strike budget union police", "An article of other words about a storm."),
        (LINES, "fell bridge the says mayor the . storm the in hurt was nobody"),
        (LOOP, LOOP),
        ("a b c d e f g h", " ".join(x + " " + y for x in "abcdefgh" for y in "abcdefgh" if x != y)),
    ],
    ids=["keywords", "another order in the article", "a loop", "every order in the article"],
)
def test_a_text_that_reads_no_better_than_its_shuffled_words_is_no_check(text, article):
    """A reader who knows the article must be able to tell the two apart, else careful judges are excluded."""
    assert not can_be_shuffled(text, article) or not shuffled(text, article, random.Random(0))
    given = align([(s, Output("0", article, (), text, s)) for s in "ab"])
    assert articles_to_shuffle(given, 3) == can_be_shuffled(text, article)
    with pytest.raises(StudyError, match="only 0 can be found; give --shuffled 0"):
        checks_of(given, shuffled=1)


def test_a_reader_with_the_article_passes_every_check():
    """The words that stand beside each other in the article as they do in a half: three more in the readable one."""
    given = outputs(JAPANESE, THAI, LINES)
    for draft in (draft for seed in range(30) for draft in checks_of(given, seed, shuffled=3)):
        article, sides = given.articles[draft.item], draft.texts if draft.key.expected == "left" else draft.texts[::-1]
        known, mixed = (len(set(pairwise(UNIT.findall(s))) & set(pairwise(UNIT.findall(article)))) for s in sides)
        assert known >= mixed + 3


@pytest.mark.parametrize("text", [JAPANESE, THAI, LINES, "  two  spaces and\n\nan empty line between these words \n"])
def test_a_shuffled_text_has_the_same_shape_and_half_of_its_places_changed(text):
    for seed in range(20):
        mixed = shuffled(text, text, random.Random(seed))
        assert Counter(mixed) == Counter(text)
        assert UNIT.sub("x", mixed) == UNIT.sub("x", text)
        before, after = UNIT.findall(text), UNIT.findall(mixed)
        assert 2 * sum(one != other for one, other in zip(before, after, strict=True)) >= len(before)


def test_marks_stay_with_their_letters():
    assert UNIT.findall("ที่ กำ が か\u3099") == ["ที่", "กำ"[0], "ำ", "が", "か\u3099"]


def outputs(*texts):
    rows = (Output(str(n), f"So: {text}", (), text, s) for n, text in enumerate(texts) for s in "ab")
    return align([(f"{row.id} {row.system}", row) for row in rows])


def checks_of(given, seed=0, **counts):
    counts = {"identical": 0, "shuffled": 0, "swapped": 0, **counts}
    return [draft for draft, _ in with_checks(given, [], ["0"], counts, 2, random.Random(seed))]


def test_every_check_of_a_kind_in_a_booklet_is_on_another_article():
    given = outputs(JAPANESE, "短い。", THAI, "また短い。", LINES)
    for seed in range(5):
        assert {draft.item for draft in checks_of(given, seed, shuffled=3)} == {"0", "2", "4"}
    for kind, most in (("shuffled", 3), ("identical", 5)):
        with pytest.raises(StudyError, match=f"--{kind} {most + 1}: .* only {most} can be found; give --{kind} {most}"):
            checks_of(given, **{kind: most + 1})


def test_a_check_is_on_an_article_with_one_text_that_can_be_shuffled():
    rows = (
        Output(str(n), f"{n} {JAPANESE}", (), text, s)
        for n in range(9)
        for s, text in (("a", "短い。"), ("b", JAPANESE))
    )
    given = align([(f"{row.id} {row.system}", row) for row in rows])
    assert {draft.key.pair for draft in checks_of(given, shuffled=3)} == {("b", "b")}


@pytest.mark.parametrize(
    ("kind", "expected", "answers", "verdict"),
    [
        ("identical", "none", "none none", True),
        ("identical", "none", "none left", False),
        ("shuffled", "left", "left none", True),
        ("shuffled", "left", "left left", True),
        ("shuffled", "left", "none none", False),
        ("shuffled", "left", "left right", False),
        ("pair", None, "left right", None),
        ("swapped", None, "left right", None),  # the earlier answers are not there
    ],
)
def test_verdict_on_a_check(kind, expected, answers, verdict):
    secret = TaskKey(("a", "a"), "a", "a", kind, expected=expected)
    assert passed(secret, scores(dict(zip("xy", answers.split(), strict=True)))) is verdict


@pytest.mark.parametrize(
    ("earlier", "now", "verdict"),
    [("left right", "right left", True), ("left none", "none left", True), ("left right", "left left", False)],
)
def test_a_swapped_pair_is_failed_by_staying_on_one_side(earlier, now, verdict):
    secret = TaskKey(("a", "b"), "b", "a", "swapped", repeats="t1")
    first, second = (scores(dict(zip("xy", answers.split(), strict=True))) for answers in (earlier, now))
    assert passed(secret, second, first) is verdict


DEFAULT = {"identical": 2, "shuffled": 3, "swapped": 0}


def test_the_error_rates_of_the_default_are_those_of_simulated_judges():
    """Judges who click at random, with one and four criteria, and a careful one who errs in 5% of checks."""
    rng = random.Random(0)
    for criteria, draws in ((1, 4_000), (4, 4_000)):
        names, kept = [f"c{number}" for number in range(criteria)], 0
        for _ in range(draws):
            failed = 0
            for kind in ("identical", "identical", "shuffled", "shuffled", "shuffled"):
                expected = "none" if kind == "identical" else rng.choice(("left", "right"))
                secret = TaskKey(("a", "a"), "a", "a", kind, expected=expected)
                failed += not passed(secret, scores({name: rng.choice(ANSWERS) for name in names}))
            kept += failed <= most_failures(5)
        assert kept / draws == pytest.approx(error_rates(DEFAULT, [PAIR] * criteria, 2).random, abs=0.011)


@pytest.mark.parametrize("criteria", [1, 2, 4])
def test_the_default_checks_keep_the_stated_rates(criteria):
    rates = error_rates(DEFAULT, [PAIR] * criteria, 2)
    assert rates.random < KEPT
    assert rates.none == 0  # who always answers "no difference" fails every shuffled check
    assert rates.left == 0
    assert rates.careful < CAREFUL_LOST


def test_one_check_of_each_kind_keeps_who_does_not_read():
    one_each = {"identical": 1, "shuffled": 1, "swapped": 1}
    assert error_rates(one_each, [PAIR], 2).random == pytest.approx(0.457, abs=0.001)
    assert error_rates(one_each, [PAIR] * 2, 2).random == pytest.approx(0.263, abs=0.002)
    assert error_rates(one_each, [PAIR] * 4, 2).none == 1


@pytest.mark.parametrize(("checks", "allowed"), [(1, 1), (2, 1), (5, 1), (7, 1), (8, 2), (20, 3)])
def test_most_failures_of_a_careful_judge(checks, allowed):
    assert most_failures(checks) == allowed
