"""A paper's findings as functions of what was measured: does one hold, does it not, or can it not be said?

A verdict rests on 95% intervals or on a test. A finding about several numbers holds where all of them say so, it does
not where one says the contrary, and otherwise the data cannot tell.
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
SURE = 0.05


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
    return Claim(text, all_of(verdicts), told)


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
    return Claim(text, all_of([each.verdict for each in claims]), told)


def against(text: str, claim: Claim) -> Claim:
    """The finding that this one does not hold."""
    return Claim(text, OPPOSITE[claim.verdict], f"{claim.text}: {claim.verdict} ({claim.numbers})")


def by_sign(difference: float, p: float) -> Verdict:
    """Of a finding that a difference is above 0, by its sign and its two-tailed p; undefined is "cannot be said"."""
    if not p < SURE:
        return "cannot be said"
    return "holds" if difference > 0 else "does not hold"


def above(low: float, high: float, bound: float = 0.0) -> Verdict:
    """Of a finding that a value is above ``bound``, by its interval; undefined is "cannot be said"."""
    if low > bound:
        return "holds"
    return "does not hold" if high <= bound else "cannot be said"


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Of a finding about all of several things: one failure refutes it, one doubt leaves it open."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if verdicts and set(verdicts) == {"holds"} else "cannot be said"


def _verdict(found: Estimate, low: float, high: float) -> Verdict:
    least, most = found.interval
    if math.isnan(least) or math.isnan(most):
        return "cannot be said"
    if low <= least and most <= high:
        return "holds"
    return "does not hold" if most < low or least > high else "cannot be said"


def _told(found: Estimate, scale: float) -> str:
    low, high = (scale * end for end in found.interval)
    return f"{scale * found.value:+.2f} ({low:+.2f} to {high:+.2f})"
