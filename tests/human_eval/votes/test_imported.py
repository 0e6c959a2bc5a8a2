from dataclasses import replace

import pytest

from human_eval.statistics.analysis import analyse
from human_eval.statistics.errors import agreement
from human_eval.statistics.settings import AnalysisSettings
from human_eval.votes.imported import votes_of
from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment


def judged(name, system, scores, judges=("ann", "bo"), source=""):
    text = f"{system} wrote this of {name}" + " at length" * (system == "b")
    return Judgment(name, system, text, (), source, "", {}, {"overall": scores}, judges)


def test_a_judge_prefers_the_text_with_the_higher_score():
    rows = [
        judged("x", "a", (3.0, 1.0)), judged("x", "b", (1.0, 1.0)),
        judged("y", "b", (80.0, None), ("bo", "cy")), judged("y", "a", (20.0, 50.0), ("bo", "cy")),
    ]  # fmt: skip
    votes = votes_of(Judgments("mine", tuple(rows)))
    assert [(row.item, row.judge, row.preference, row.longer) for row in votes.rows] == [
        ("x", "ann", -1, 1),
        ("x", "bo", 0, 1),
        ("y", "bo", 1, 1),
    ]
    assert (votes.pairs, votes.criteria) == ((("a", "b"),), ("overall",))
    assert analyse(votes, AnalysisSettings(resamples=50)).outcomes[0].half.items == 2


def test_marked_errors_are_a_criterion_and_rates():
    marks = {"a": (((0, 1), (2, 7)), ((0, 1),)), "b": ((), ((0, 1),))}
    rows = [replace(judged(name, system, (1.0, 2.0)), marks=marks[system]) for name in "xyz" for system in "ab"]
    votes = votes_of(Judgments("mine", tuple(rows), {"of nobody": 2}))
    assert votes.criteria == ("overall", "errors")
    assert [(row.judge, row.preference) for row in votes.of("errors")] == [("ann", 1), ("bo", 0)] * 3
    assert votes.notes == ("2 of nobody left out",)
    analysis = analyse(votes, AnalysisSettings(resamples=50))
    rates = {row.system: row.rate.value for row in analysis.errors.rates if row.category == "marked"}
    assert rates == pytest.approx({"a": 100 * 1.5 / 5, "b": 100 * 0.5 / 7})


def test_inputs_of_one_source_are_one_item():
    rows = [judged(name, system, (1.0, 2.0), source="The article.") for name in "xy" for system in "ab"]
    assert {row.item for row in votes_of(Judgments("mine", tuple(rows))).rows} == {"The article."}


def test_one_id_in_two_groups_is_two_items():
    rows = [replace(judged("1", system, (1.0, 2.0)), group=group) for group in ("news", "mail") for system in "ab"]
    assert {row.item for row in votes_of(Judgments("mine", tuple(rows))).rows} == {"news/1", "mail/1"}


def test_judgments_without_judges_are_refused():
    rows = (judged("y", "a", (1.0,), ("ann",)),)
    with pytest.raises(UserError, match="no judge, by name, scored two texts"):
        votes_of(Judgments("mine", rows))


def test_judges_agree_on_marks_in_the_same_text_alone():
    """Two questions about one story, of which three judges read one or both."""
    asked = {"x": ((((0, 1),), ((0, 1),)), ("ann", "bo")), "y": ((((0, 1),), ()), ("bo", "cy"))}
    rows = [
        replace(judged(name, system, (1.0, 2.0), judges, "The story."), marks=marks)
        for name, (marks, judges) in asked.items()
        for system in "ab"
    ]
    found = agreement(votes_of(Judgments("mine", tuple(rows))).marked, ["marked"])["F1, any category"]
    assert (found.n, found.judgments) == (4, 8)
    assert found.value == pytest.approx(2 / 3)  # of each system 2 of 2 characters, then 0 of 1
