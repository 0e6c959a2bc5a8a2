"""A paper's findings as functions of measured numbers: a finding holds, does not hold, or cannot be said.

A verdict depends on 95% intervals or a test. A finding about several numbers holds if it holds for all of them, does
not hold if one contradicts it, and otherwise cannot be said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reproductions.estimate import Estimate

Verdict = Literal["holds", "does not hold", "cannot be said"]
OPPOSITE: dict[Verdict, Verdict] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "cannot be said": "cannot be said",
}


@dataclass(frozen=True)
class Claim:
    """A finding in words, its verdict, and the numbers behind it."""

    text: str
    verdict: Verdict
    numbers: str


def within(text: str, estimates: Mapping[str, Estimate], low: float = -math.inf, high: float = math.inf) -> Claim:
    """The finding that all ``estimates`` lie between ``low`` and ``high``; numbers are shown times 100."""
    verdicts = [_verdict(estimate, low, high) for estimate in estimates.values()]
    return Claim(text, all_of(verdicts), _numbers(estimates))


def undetected(text: str, estimates: Mapping[str, Estimate]) -> Claim:
    """The finding that no estimate differs significantly from 0: each interval contains 0."""
    intervals, numbers = [estimate.interval for estimate in estimates.values()], _numbers(estimates)
    detected = any(low > 0 or high < 0 for low, high in intervals)
    known = detected or (bool(intervals) and not np.isnan(intervals).any())
    return Claim(text, verdict(not detected, known), numbers)


def both(text: str, *claims: Claim) -> Claim:
    """The finding that all ``claims`` hold."""
    numbers = "; ".join(f"{claim.text}: {claim.verdict} ({claim.numbers})" for claim in claims)
    return Claim(text, all_of([claim.verdict for claim in claims]), numbers)


def against(text: str, claim: Claim) -> Claim:
    """The finding that ``claim`` does not hold."""
    return Claim(text, OPPOSITE[claim.verdict], f"{claim.text}: {claim.verdict} ({claim.numbers})")


def verdict(true: bool, known: bool = True) -> Verdict:
    """The verdict of what is ``true`` or not, if it is ``known``."""
    if not known:
        return "cannot be said"
    return "holds" if true else "does not hold"


def above(low: float, high: float, bound: float = 0.0) -> Verdict:
    """The verdict that a value is above ``bound``, by its interval; "cannot be said" if undefined."""
    if low > bound:
        return "holds"
    return "does not hold" if high <= bound else "cannot be said"


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of a finding about all of several numbers."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if verdicts and set(verdicts) == {"holds"} else "cannot be said"


def _verdict(estimate: Estimate, low: float, high: float) -> Verdict:
    least, most = estimate.interval
    if math.isnan(least) or math.isnan(most):
        return "cannot be said"
    if low <= least and most <= high:
        return "holds"
    return "does not hold" if most < low or least > high else "cannot be said"


def _numbers(estimates: Mapping[str, Estimate]) -> str:
    parts = []
    for name, estimate in estimates.items():
        low, high = (100 * end for end in estimate.interval)
        parts.append(f"{name} {100 * estimate.value:+.2f} ({low:+.2f} to {high:+.2f})")
    return "; ".join(parts)
