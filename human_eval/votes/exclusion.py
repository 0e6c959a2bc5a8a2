"""Judges excluded from the analysis, by rules that do not depend on their preferences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.collection.responses import Response
from human_eval.design.checks import CAREFUL_LOST, most_failures
from human_eval.formatting import counted
from human_eval.study import Study, StudyKey
from human_eval.votes.unblind import unblind
from human_eval.votes.votes import Vote, Votes


@dataclass(frozen=True)
class ExclusionRules:
    """Which judges are left out. The fields are options of `plan` and `analyse`.

    ``max_failed``: None for the number of `most_failures`, which a careful judge seldom exceeds (see
    `human_eval.design.checks.passed`). Raises pydantic's ValidationError for values out of range.
    """

    max_failed: float | None = Field(default=None, ge=0, le=1)
    """exclude judges who fail more than this share of checks; default: as `build` states"""
    min_checks: int = Field(default=2, ge=1)
    """a judge who answered fewer checks than this is not excluded for them"""
    min_seconds: float = Field(default=0.0, ge=0)
    """exclude judges whose median time per task is below this"""

    def allowed(self, checks: int) -> float:
        """The most failures of a judge with so many checks who is kept."""
        return most_failures(checks) if self.max_failed is None else self.max_failed * checks

    def in_words(self) -> str:
        """The rules as a phrase."""
        slow = f", and judges with a median time below {self.min_seconds:g} s per task" if self.min_seconds else ""
        more = f"more checks than {1 - CAREFUL_LOST:.0%} of careful judges would"
        least = f" of {self.min_checks} or more checks"
        if self.max_failed is not None:
            more = f"more than {self.max_failed:.0%}{least}"
        else:
            more += " (of 2 to 7 checks, more than one)" if self.min_checks == 2 else least
        failed = f"judges who failed {more}"
        return f"{failed}{slow} are left out"


@dataclass(frozen=True)
class ExcludedJudge:
    """An excluded judge, the reason, and the number of judgments lost."""

    judge: str
    reason: str
    judgments: int


def fails(study: Study, key: StudyKey, responses: Sequence[Response], rules: ExclusionRules) -> bool:
    """Whether the judge who gave these ``responses`` failed so many checks that the analysis will exclude them, however
    the rest of the booklet goes. A limit for the checks so far would exclude more careful judges than `build` states.
    """
    made = unblind(study, key, responses).checks
    booklets = {study.by_id[response.task].booklet for response in responses}
    total = sum(key.tasks[task.id].kind != "pair" for booklet in booklets for task in study.booklets[booklet])
    return len(made) >= rules.min_checks and sum(check.failed for check in made) > rules.allowed(total)


def excluded(votes: Votes, rules: ExclusionRules) -> tuple[ExcludedJudge, ...]:
    """The judges whom the rules exclude, sorted by name."""
    reasons = ((judge, _reason(votes, judge, rules)) for judge in votes.judges)
    lost = Counter(judge for judge, _ in {(row.judge, row.task) for row in votes.rows})
    return tuple(ExcludedJudge(judge, reason, lost[judge]) for judge, reason in reasons if reason)


def unchecked_judges(votes: Votes, rules: ExclusionRules) -> tuple[str, ...]:
    """The judges who answered fewer checks than the rules need, if the study has any, sorted by name."""
    answered = Counter(check.judge for check in votes.checks)
    voted = {row.judge for row in votes.rows}
    return tuple(sorted(judge for judge in voted if votes.checks and answered[judge] < rules.min_checks))


def median_seconds(rows: Sequence[Vote]) -> float:
    """The median time per task, which covers all criteria; NaN without times."""
    times = {(row.judge, row.task): row.seconds for row in rows if row.seconds is not None}
    return float(median(times.values())) if times else float("nan")


def _reason(votes: Votes, judge: str, rules: ExclusionRules) -> str:
    checks = [check for check in votes.checks if check.judge == judge]
    failed = sum(check.failed for check in checks)
    if len(checks) >= rules.min_checks and failed > rules.allowed(len(checks)):
        return f"failed {failed} of {counted(len(checks), 'check')}"
    seconds = median_seconds([row for row in votes.rows if row.judge == judge])
    return f"median time {seconds:.1f} s per task" if seconds < rules.min_seconds else ""
