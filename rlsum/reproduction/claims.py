"""A paper's findings as functions of what was measured: does one hold, does it not, or can it not be said?

A verdict rests on 95% intervals. It holds where every interval lies where the finding says, it does not where one lies
wholly elsewhere, and otherwise the data cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlsum.reproduction.estimate import Estimate

Verdict = Literal["holds", "does not hold", "cannot be said"]
OPPOSITE: dict[Verdict, Verdict] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "cannot be said": "cannot be said",
}


@dataclass(frozen=True)
class Claim:
    """A finding in words, whether it holds here, and the numbers behind that."""

    text: str
    verdict: Verdict
    numbers: str


def within(
    text: str, found: Mapping[str, Estimate], low: float = -math.inf, high: float = math.inf, scale: float = 100
) -> Claim:
    """The finding that every one of ``found`` lies between ``low`` and ``high``; numbers are told times ``scale``."""
    verdicts = [_verdict(each, low, high) for each in found.values()]
    told = "; ".join(f"{name} {_told(each, scale)}" for name, each in found.items())
    return Claim(text, _all(verdicts), told)


def undetected(text: str, found: Mapping[str, Estimate], scale: float = 100) -> Claim:
    """The finding that none of ``found`` differs significantly from 0: each interval holds 0. None need be 0."""
    intervals = [each.interval for each in found.values()]
    told = "; ".join(f"{name} {_told(each, scale)}" for name, each in found.items())
    if any(low > 0 or high < 0 for low, high in intervals):
        return Claim(text, "does not hold", told)
    return Claim(text, "holds" if intervals and not np.isnan(intervals).any() else "cannot be said", told)


def both(text: str, *claims: Claim) -> Claim:
    """The finding that all of these hold."""
    told = "; ".join(f"{each.text}: {each.verdict} ({each.numbers})" for each in claims)
    return Claim(text, _all([each.verdict for each in claims]), told)


def against(text: str, claim: Claim) -> Claim:
    """The finding that this one does not hold."""
    return Claim(text, OPPOSITE[claim.verdict], f"{claim.text}: {claim.verdict} ({claim.numbers})")


def _verdict(found: Estimate, low: float, high: float) -> Verdict:
    least, most = found.interval
    if math.isnan(least) or math.isnan(most):
        return "cannot be said"
    if low <= least and most <= high:
        return "holds"
    return "does not hold" if most < low or least > high else "cannot be said"


def _all(verdicts: list[Verdict]) -> Verdict:
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if verdicts and set(verdicts) == {"holds"} else "cannot be said"


def _told(found: Estimate, scale: float) -> str:
    low, high = (scale * end for end in found.interval)
    return f"{scale * found.value:+.2f} ({low:+.2f} to {high:+.2f})"
