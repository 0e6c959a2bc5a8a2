from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from votes import study_of, votes_of

from human_eval.votes.exclusion import ExclusionRules, excluded
from human_eval.votes.votes import CheckResult


def checks(judge, *failed):
    return [CheckResult(judge, f"{judge}-{place}", "identical", each) for place, each in enumerate(failed)]


def test_rules_leave_out_whom_they_say_and_give_the_reason():
    rows = votes_of(np.ones((4, 4)))
    rows = [replace(row, seconds=1.5) if row.judge == "judge3" else row for row in rows]
    made = [
        *checks("judge0", True, True, False),
        *checks("judge1", True, False),  # half is not more than half
        *checks("judge2", True),  # one check says too little
        *checks("nobody", True, True),  # checks and nothing else
    ]
    votes = study_of(rows, checks=made)
    found = excluded(votes, ExclusionRules(min_seconds=2))
    assert [(each.judge, each.judgments) for each in found] == [("judge0", 4), ("judge3", 4), ("nobody", 0)]
    assert found[0].reason == "failed 2 of 3 checks"
    assert found[1].reason == "median time 1.5 s per task"
    assert excluded(votes, ExclusionRules(max_failed=1)) == ()
    unknown = study_of([replace(row, seconds=None) for row in rows])
    assert excluded(unknown, ExclusionRules(min_seconds=100)) == ()


@pytest.mark.parametrize("wrong", [{"max_failed": 1.5}, {"min_checks": 0}, {"min_seconds": float("nan")}])
def test_rules_that_make_no_sense(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ExclusionRules(**wrong)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({}, "would (of 2 to 7 checks, more than one) are left out"),
        ({"min_checks": 4}, "would of 4 or more checks are left out"),
        ({"max_failed": 0.4, "min_seconds": 3}, "40% of 2 or more checks, and judges with a median time below 3 s"),
    ],
)
def test_rules_in_words(rules, said):
    assert said in ExclusionRules(**rules).in_words()


def test_judges_with_few_checks_stay():
    votes = study_of(votes_of(np.ones((4, 1))), checks=checks("judge0", True, True))
    assert [len(excluded(votes, ExclusionRules(min_checks=least))) for least in (2, 3)] == [1, 0]
