"""What the paper says, and whether the numbers measured here bear it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rlsum.reproduction.neighbors.tables import Results

Verdict = Literal["holds", "does not hold", "cannot be said"]

SURE = 0.05


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the verdict, and the numbers that it rests on."""

    text: str
    verdict: Verdict
    numbers: str


def by_sign(difference: float, p: float) -> Verdict:
    """Of a claim that a difference is above 0, by its sign and its two-tailed p; undefined is "cannot be said"."""
    if not p < SURE:
        return "cannot be said"
    return "holds" if difference > 0 else "does not hold"


def above(low: float, high: float, bound: float = 0.0) -> Verdict:
    """Of a claim that a value is above ``bound``, by its interval; undefined is "cannot be said"."""
    if low > bound:
        return "holds"
    return "does not hold" if high <= bound else "cannot be said"


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Of a claim about all of several things: one failure refutes it, one doubt leaves it open."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if verdicts and set(verdicts) == {"holds"} else "cannot be said"


def claims_table(claims: Sequence[Claim]) -> Results:
    """The claims, one a row."""
    rows = [{"claim": claim.text, "verdict": claim.verdict, "numbers": claim.numbers} for claim in claims]
    return Results("claims", "Claims of the paper", rows)
