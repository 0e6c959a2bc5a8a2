from dataclasses import replace

import numpy as np
import pytest
from votes import study_of, votes_of

from human_eval.report.adherence import adherence
from human_eval.report.card import card
from human_eval.report.findings import exploratory, headline, material
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import LIKE_THESE, THESE, AnalysisSettings, Planned
from rlsum.pages.blocks import Paragraph

PLANNED = Planned(items=12, judges=3, pairs=1, people=3, about=THESE)


def analysed(rows, planned=PLANNED, **study):
    return analyse(study_of(rows, **study), AnalysisSettings("overall", resamples=50, planned=planned))


def broken(analysis):
    return [line.name for line in adherence(analysis) if not line.as_planned]


def test_a_study_as_planned_breaks_no_line():
    found = analysed(votes_of(np.ones((12, 3))))
    assert len(adherence(found)) == 11
    assert broken(found) == []
    assert exploratory(found) == "Planned: the verdict on overall. All other results are exploratory."
    equal = analysed(votes_of(np.ones((11, 3))), same=((("a", "b"), "item099"),))
    assert broken(equal) == []  # equal texts are not judged


@pytest.mark.parametrize(
    ("rows", "planned", "lines"),
    [
        (votes_of(np.ones((10, 3))), {}, ["items", "comparisons without all", "stopped when"]),
        (votes_of(np.ones((12, 4))), {}, ["judges of each", "stopped when"]),
        (votes_of(np.ones((12, 2))), {}, ["judges of each", "comparisons without all", "stopped when", "people"]),
        (votes_of(np.ones((12, 3))), {"pairs": 2}, ["pairs of systems", "comparisons without all", "stopped when"]),
        (votes_of(np.ones((12, 3))), {"about": LIKE_THESE}, ["the verdict is about"]),
        (votes_of(np.ones((12, 3))), {"people": 9}, ["people"]),
        (votes_of(np.ones((12, 4))), {"spare": 1}, []),
        (votes_of(np.ones((12, 3))), {"answers": "pair"}, []),
        (votes_of(np.ones((12, 3))), {"answers": "likert-5"}, ["kind of answers"]),
    ],
)
def test_every_line_that_is_broken_is_named(rows, planned, lines):
    found = analysed(rows, replace(PLANNED, **planned))
    assert len(broken(found)) == len(lines)
    assert all(name.startswith(line) for name, line in zip(broken(found), lines, strict=True))
    assert sum(warning.startswith("not as planned: ") for warning in warnings(found)) == len(lines)


def test_without_a_plan_everything_is_exploratory():
    found = analysed(votes_of(np.ones((12, 3))), None)
    assert adherence(found) == ()
    assert exploratory(found) == "Without a plan: all results are exploratory."
    texts = [block.text for block in card(found) if isinstance(block, Paragraph)]
    assert texts[:2] == [headline(found), exploratory(found)], "said before anything is claimed in detail"
    assert not any("of the plan:" in line and "not" not in line for line in material(found))
