"""How much one system is preferred, in the unit of its answers: percent of the votes, or points of a scale."""

from __future__ import annotations

from human_eval.statistics.outcomes import Outcome, Verdict


def amount(share: float, points: float) -> str:
    """A share of the votes as ``62.1%``, or the difference of two systems that it stands for as ``+0.48 points``."""
    return f"{number(share, points)} points" if points else f"{number(share, points)}%"


def number(share: float, points: float) -> str:
    """`amount` without its unit."""
    return f"{(2 * share - 1) * points:+z.2f}" if points else f"{100 * share:.1f}"


def of_system(outcome: Outcome, system: str) -> str:
    """What a system of a pair has: its share of the votes, or its points against the other one."""
    share = outcome.half.share if system == outcome.pair[1] else 1 - outcome.half.share
    return amount(share, outcome.points)


def interval(outcome: Outcome, verdict: Verdict, system: str) -> str:
    """The simultaneous interval of `of_system`."""
    if verdict.low != verdict.low:
        return "no interval"
    low, high = (verdict.low, verdict.high) if system == outcome.pair[1] else (1 - verdict.high, 1 - verdict.low)
    if outcome.points:
        return f"{number(low, outcome.points)} to {number(high, outcome.points)}"
    return f"{amount(low, 0)} to {amount(high, 0)}"


def share_of_the_second(points: set[float]) -> str:
    """The heading of a column of `number`."""
    if not points - {0.0}:
        return "share of the second, %"
    return "second minus first, points" if 0.0 not in points else "share of the second, %, or points"
