"""Marked errors: rates, tests between systems and agreement, against values computed by hand."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from served import make_key, make_study

from human_eval.collection.responses import Response
from human_eval.criteria import MARKING
from human_eval.design.checks import passed
from human_eval.marks import Category, parsed
from human_eval.report.card import card
from human_eval.report.errors import error_rows
from human_eval.report.findings import findings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.errors import ALL, agreement, errors, estimate
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import TaskKey
from human_eval.votes.unblind import fewer_errors, unblind
from human_eval.votes.votes import MarkedText
from rlsum.evaluation.statistics import Uncertainty
from rlsum.pages.markdown import to_markdown

KINDS = (Category("made-up", "Made up"), Category("grammar", "Grammar"), Category("gap", "Gap", whole=True))
PAIR = ("a", "b")
NONE = Uncertainty(resamples=0)


def text_of(judge, marks, text="aa bb cc dd", item="i1", system="a"):
    return MarkedText(item, item, judge, f"{item}-{judge}", system, text, tuple(parsed(marks)))


def test_f1_and_alpha_by_hand():
    # One judge marks "aa bb" (5 characters), the other "bb" (2), both as made up: F1 = 2 * 2 / (5 + 2).
    marked = [text_of("x", "A:0-5:made-up"), text_of("y", "A:3-5:made-up")]
    found = agreement(marked, ["made-up", "grammar", "gap"], how=NONE)
    assert found["F1, any category"].value == pytest.approx(4 / 7)
    assert found["F1, same category"].value == pytest.approx(4 / 7)
    # Words: (1,0) (1,1) (0,0) (0,0). D_o = 2/8; D_e = 2 * 3 * 5 / (8 * 7); alpha = 1 - (2/8) / (30/56).
    assert found["alpha, marked words"].value == pytest.approx(1 - 0.25 / (30 / 56))
    assert found["alpha, marked words"].n == 4


def test_another_category_agrees_on_place_alone():
    marked = [text_of("x", "A:0-5:made-up"), text_of("y", "A:0-5:grammar")]
    found = agreement(marked, ["made-up", "grammar", "gap"], how=NONE)
    assert found["F1, any category"].value == 1
    assert found["F1, same category"].value == 0
    assert found["alpha, marked words"].value == 1
    assert found["alpha, categories"].value < 1


def test_three_judges_and_two_summaries_are_summed_over_pairs():
    # Pairs of the first: 4 + 0 + 0 of (2+2) + (2+0) + (2+0); of the second: nothing marked by anybody.
    first = [text_of("x", "A:0-2:made-up"), text_of("y", "A:0-2:made-up"), text_of("z", "none")]
    second = [text_of(judge, "none", item="i2") for judge in "xyz"]
    found = agreement(first + second, ["made-up"], how=NONE)
    assert found["F1, any category"].value == pytest.approx(4 / 8)
    assert agreement(second, ["made-up"], how=NONE)["F1, any category"].reason == "nothing is marked"
    assert agreement(first[:1], ["made-up"], how=NONE)["alpha, categories"].reason == "no summary has two judges"


def test_errors_are_claimed_in_order():
    """The votes on errors, all errors, single kinds: three families claimed something in 9% of studies of noise."""
    kinds = {"a": lambda at: "none", "b": lambda at: "A:0-3:made-up" if at % 3 else "none"}
    marked = [
        text_of(f"j{(item + number) % 8}", kind(item + 2 * number), "one two", f"i{item}", system)
        for item in range(30)
        for number in range(3)
        for system, kind in kinds.items()
    ]
    for voted in (0.0, 0.2):
        by_kind = {
            row.category: row for row in errors(marked, KINDS, [PAIR], voted={PAIR: voted}, how=NONE).differences
        }
        assert by_kind[ALL].p_holm == max(by_kind[ALL].difference.p, voted)
        assert by_kind["made-up"].p_holm == max(len(KINDS) * by_kind["made-up"].difference.p, by_kind[ALL].p_holm)


def test_rates_and_differences_by_hand():
    texts = {"a": "one two three four", "b": "one two"}  # an error is 25 and 50 per 100 words
    marked = [
        text_of(judge, marks, text, item, system)
        for item, judge, by_system in (
            ("i1", "x", ("A:0-3:made-up A:gap", "none")),
            ("i2", "y", ("none", "A:0-3:grammar")),
        )
        for (system, text), marks in zip(texts.items(), by_system, strict=True)
    ]
    found = errors(marked, KINDS, [PAIR], voted={PAIR: 0.0}, how=NONE)
    rates = {(row.system, row.category): (row.rate.value, row.share.value) for row in found.rates}
    assert rates["a", ALL] == (25, 0.5)
    assert rates["a", "made-up"] == (12.5, 0.5)
    assert rates["b", ALL] == (25, 0.5)
    assert rates["b", "made-up"] == (0, 0)
    differences = {row.category: row.difference.value for row in found.differences}
    assert differences[ALL] == 0  # (0 - 50 + 50 - 0) / 2
    assert differences["grammar"] == 25
    assert all("judges" in row.difference.reason for row in found.differences)  # two judges: no test


def test_the_interval_of_a_share_ends_at_one():
    """Of 8 judges and 24 items, all marked but one: Student's interval is .982 to 1.007."""
    marked = [
        text_of(f"j{judge}", "none" if item == judge == 0 else "A:0-3:made-up", "one two", f"i{item}", "a")
        for item in range(24)
        for judge in range(8)
    ]
    share = errors(marked, KINDS, [PAIR], voted={PAIR: 0.0}, how=NONE).rates[0].share
    assert (share.value, share.high) == (pytest.approx(191 / 192), 1)


def test_an_estimate_with_a_judge_an_item_each_is_near_student():
    generator = np.random.default_rng(0)
    drawn = generator.normal(1, 1, 30)
    found = estimate({(f"i{n}", f"j{n}"): [value] for n, value in enumerate(drawn)})
    low, high = ttest_1samp(drawn, 0).confidence_interval()
    assert found.value == pytest.approx(drawn.mean())
    assert (found.low, found.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


@pytest.mark.slow
def test_the_paired_test_holds_its_level_with_judges_who_differ():
    """Equal systems; judges mark one of the two more strictly by chance."""
    generator = np.random.default_rng(1)
    rejected = []
    for _ in range(2_000):
        lean = generator.normal(0, 0.5, 8)
        cells = {
            (f"i{item}", f"j{judge}"): [lean[judge] + shared + generator.normal(0, 1)]
            for item in range(24)
            for shared in [generator.normal(0, 0.5)]
            for judge in generator.choice(8, 3, replace=False)
        }
        rejected.append(estimate(cells).p <= 0.05)
    assert 0.03 < np.mean(rejected) < 0.065


def studied(marks):
    """A study of 3 items and 6 judges, who mark what ``marks`` (item, system -> answer without letter) says."""
    study = make_study(booklets=6, items=3, marking=MARKING, criteria=())
    key = make_key(study)
    responses = []
    for task in study.tasks:
        sides = ((0, key.tasks[task.id].left), (1, key.tasks[task.id].right))
        parts = [f"{'AB'[place]}:{marks[task.item, system]}" for place, system in sides if (task.item, system) in marks]
        responses.append(Response(study.id, task.id, f"j{task.booklet}", {"errors": " ".join(parts) or "none"}))
    return analyse(unblind(study, key, responses), AnalysisSettings(resamples=50))


def test_a_study_of_marks_alone_is_analysed_to_its_card():
    found = studied({(f"i{n}", "beta-system"): "0-6:hallucinated" for n in range(3)})
    rates = {(row.system, row.category): row.rate.value for row in found.errors.rates}
    assert rates["alpha-system", ALL] == 0
    assert rates["beta-system", ALL] == pytest.approx(25)  # one of "Second summary of 0."
    assert {row.preferred() for row in found.outcomes} <= {None, "alpha-system"}
    assert found.outcomes[0].half.share == 0
    assert found.errors.agreement["F1, any category"].value == 1
    assert any("alpha-system has 25.00 errors per 100 words fewer than beta-system" in line for line in findings(found))
    page = to_markdown(card(found))
    assert "Errors that judges marked" in page
    assert len(list(error_rows(found))) == 1 + 2 * 6 * 2 + 6
    assert found.kept.without(["j0"]).marked[0].judge != "j0"


def test_who_marks_shuffled_words_passes_a_check():
    key = TaskKey(("a", "a"), "a", "a", "shuffled", expected="left")
    for answer, right in (("B:0-2:ungrammatical", True), ("none", False), ("A:0-2:ungrammatical", False)):
        scores = fewer_errors(Response("s", "t", "j", {"errors": answer}), 2)
        assert passed(key, {"errors": scores}) == right
