"""A statistic with its bootstrap draws, so that differences, means and ranges of statistics have intervals, too.

Two statistics of one data set are drawn with the same resamples: the draws of a difference are those of the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlsum.evaluation.correlation import bootstrap_values
from rlsum.evaluation.rows import Ids, judged_rows
from rlsum.evaluation.weighted import Statistic, engine

Floats = NDArray[np.float64]

RESAMPLES = 1_000
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Estimate:
    """``value``, and ``draws`` ``(resamples,)`` of it; no draws, no interval."""

    value: float
    draws: Floats

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.draws - other.draws)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% percentile interval; NaN without draws, or where draws are undefined."""
        if not len(self.draws):
            return np.nan, np.nan
        low, high = np.quantile(self.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def mean(estimates: Sequence[Estimate], weights: Sequence[float] | None = None) -> Estimate:
    """Their weighted mean; equal weights by default."""
    shares = np.ones(len(estimates)) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    return Estimate(
        float(shares @ [each.value for each in estimates]), shares @ np.stack([each.draws for each in estimates])
    )


def spread(estimates: Sequence[Estimate]) -> Estimate:
    """The largest less the smallest."""
    draws = np.stack([each.draws for each in estimates])
    return Estimate(float(np.ptp([each.value for each in estimates])), np.ptp(draws, axis=0))


def best(estimates: Sequence[Estimate]) -> Estimate:
    """The largest, in each draw anew."""
    return Estimate(max(each.value for each in estimates), np.max([each.draws for each in estimates], axis=0))


def estimate(
    human: Floats, metric: Floats, inputs: Ids, statistic: Statistic, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """A correlation over all rows ``(n,)``, with draws of whole ``inputs``; NaN where it is undefined.

    Rows where a score is NaN are left out; resamples are those of every other metric on the same rows.
    """
    rows = judged_rows(human, metric, inputs)
    of_weights = engine(rows, statistic, "pooled")
    draws = bootstrap_values(of_weights, rows.units, resamples, seed) if resamples else np.empty(0)
    return Estimate(float(of_weights(np.ones((1, rows.units)))[0]), draws)


def mean_estimate(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean of independent values ``(n,)``, with draws of them."""
    times = np.random.default_rng(seed).multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
    return Estimate(float(values.mean()), times @ values / len(values))
