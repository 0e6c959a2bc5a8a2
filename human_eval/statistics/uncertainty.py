"""How intervals and tests of a study are computed."""

from __future__ import annotations

from dataclasses import dataclass

from rlsum.evaluation.statistics import LEVEL, RESAMPLES


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """``level`` of intervals; ``resamples``: of intervals, and sign flips of tests; ``seed`` of both."""

    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0


USUAL = Uncertainty()
