"""Judges excluded from the analysis, by rules that do not depend on their preferences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from human_eval.design.checks import most_failures
from human_eval.formatting import counted
from human_eval.statistics.votes import Vote, Votes
from rlsum.errors import UserError


@dataclass(frozen=True)
class ExclusionRules:
    """Exclude judges who failed more than ``max_failed`` of at least ``min_checks`` checks (see
    `human_eval.design.checks.passed`), or whose median time per task is below ``min_seconds``; 0 excludes nobody.
    ``max_failed``: None for the number of `most_failures`, which a careful judge seldom exceeds.

    Raises UserError for values out of range.
    """

    max_failed: float | None = None
    min_checks: int = 2
    min_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.max_failed is not None and not 0 <= self.max_failed <= 1:
            raise UserError(f"--max-failed {self.max_failed}: expected a number from 0 to 1")
        if not self.min_seconds >= 0:
            raise UserError(f"--min-seconds {self.min_seconds}: expected a number, 0 or more")
        if self.min_checks < 1:
            raise UserError(f"min_checks {self.min_checks}: expected 1 or more")

    def in_words(self) -> str:
        """The rules as a phrase."""
        slow = f", and judges with a median time below {self.min_seconds:g} s per task" if self.min_seconds else ""
        more = "more checks than 95% of careful judges would (of 2 to 7 checks, more than one)"
        if self.max_failed is not None:
            more = f"more than {self.max_failed:.0%} of {self.min_checks} or more checks"
        failed = f"judges who failed {more}"
        return f"{failed}{slow} are left out"


@dataclass(frozen=True)
class ExcludedJudge:
    """An excluded judge, the reason, and the number of votes lost."""

    judge: str
    reason: str
    votes: int


def excluded(votes: Votes, rules: ExclusionRules) -> tuple[ExcludedJudge, ...]:
    """The judges whom the rules exclude, sorted by name."""
    reasons = ((judge, _reason(votes, judge, rules)) for judge in votes.judges)
    lost = Counter(row.judge for row in votes.rows)
    return tuple(ExcludedJudge(judge, reason, lost[judge]) for judge, reason in reasons if reason)


def median_seconds(rows: Sequence[Vote]) -> float:
    """The median time per task, which covers all criteria; NaN without times."""
    times = {(row.judge, row.task): row.seconds for row in rows if row.seconds is not None}
    return float(median(times.values())) if times else float("nan")


def _reason(votes: Votes, judge: str, rules: ExclusionRules) -> str:
    checks = [check for check in votes.checks if check.judge == judge]
    failed = sum(check.failed for check in checks)
    share = rules.max_failed
    allowed = most_failures(len(checks)) if share is None else share * len(checks)
    if len(checks) >= rules.min_checks and failed > allowed:
        return f"failed {failed} of {counted(len(checks), 'check')}"
    seconds = median_seconds([row for row in votes.rows if row.judge == judge])
    return f"median time {seconds:.1f} s per task" if seconds < rules.min_seconds else ""
