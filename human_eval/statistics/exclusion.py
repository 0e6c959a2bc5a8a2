"""Whose votes are left out, by rules that were fixed before anyone looked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from human_eval.formatting import counted
from human_eval.statistics.votes import Vote, Votes


@dataclass(frozen=True)
class ExclusionRules:
    """A judge is left out who failed more than ``max_failed`` of at least ``min_checks`` checks, or whose median
    time for a task is below ``min_seconds`` (0 asks nothing; times that were not taken count for nothing).

    What it takes to pass a check is said in `human_eval.design.checks.passed`.
    """

    max_failed: float = 0.5
    min_checks: int = 2
    min_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.max_failed <= 1 or self.min_checks < 1 or not self.min_seconds >= 0:
            raise ValueError(f"{self}: max_failed lies between 0 and 1, min_checks is 1 or more, min_seconds 0 or more")

    def told(self) -> str:
        """The rules in words."""
        said = (
            f"judges are left out who failed more than {self.max_failed:.0%} of the checks they saw, where these were "
            f"{self.min_checks} or more"
        )
        return said + (
            f"; and judges whose median time is under {self.min_seconds:g} s a task" if self.min_seconds else ""
        )


@dataclass(frozen=True)
class ExcludedJudge:
    """A judge whose votes are left out, why, and how many votes that are."""

    judge: str
    reason: str
    votes: int


def excluded(votes: Votes, rules: ExclusionRules) -> tuple[ExcludedJudge, ...]:
    """The judges whom the rules leave out, by name."""
    reasons = {judge: _reason(votes, judge, rules) for judge in votes.judges}
    return tuple(
        ExcludedJudge(judge, reason, sum(row.judge == judge for row in votes.rows))
        for judge, reason in reasons.items()
        if reason
    )


def median_seconds(rows: Sequence[Vote]) -> float:
    """The median time of a task, whose criteria are answered together; NaN where no time was taken."""
    times = {(row.judge, row.task): row.seconds for row in rows if row.seconds is not None}
    return float(median(times.values())) if times else float("nan")


def _reason(votes: Votes, judge: str, rules: ExclusionRules) -> str:
    checks = [check for check in votes.checks if check.judge == judge]
    failed = sum(check.failed for check in checks)
    if len(checks) >= rules.min_checks and failed > rules.max_failed * len(checks):
        return f"failed {failed} of {counted(len(checks), 'check')}"
    seconds = median_seconds([row for row in votes.rows if row.judge == judge])
    return f"median time {seconds:.1f} s a task" if seconds < rules.min_seconds else ""
