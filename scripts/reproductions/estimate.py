"""A statistic with its bootstrap draws, from which differences, means and ranges of statistics get intervals.

Two statistics of one data set use the same resamples, so their draws can be subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import bootstrap_values
from rlsum.evaluation.rows import Floats, Ids, judged_rows
from rlsum.evaluation.statistics import LEVEL
from rlsum.pages.pictures.curves import Curve

RESAMPLES = 1_000


@dataclass(frozen=True, eq=False)
class Estimate:
    """``value`` and its bootstrap ``draws`` ``(resamples,)``; without draws, no interval."""

    value: float
    draws: Floats

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.draws - other.draws)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% percentile interval; NaN without draws or with undefined draws."""
        if not len(self.draws):
            return np.nan, np.nan
        low, high = np.quantile(self.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def mean(estimates: Sequence[Estimate], weights: Sequence[float] | None = None) -> Estimate:
    """The weighted mean; equal weights by default."""
    shares = np.ones(len(estimates)) if weights is None else np.asarray(weights, dtype=np.float64)
    return weighted(estimates, shares / shares.sum())


def weighted(estimates: Sequence[Estimate], weights: Floats) -> Estimate:
    """The sum of estimates, each times its weight."""
    draws = np.stack([item.draws for item in estimates])
    return Estimate(float(weights @ [item.value for item in estimates]), weights @ draws)


def spread(estimates: Sequence[Estimate]) -> Estimate:
    """The largest less the smallest."""
    draws = np.stack([item.draws for item in estimates])
    return Estimate(float(np.ptp([item.value for item in estimates])), np.ptp(draws, axis=0))


def best(estimates: Sequence[Estimate]) -> Estimate:
    """The largest, determined separately in each draw."""
    return Estimate(max(item.value for item in estimates), np.max([item.draws for item in estimates], axis=0))


def estimate(
    human: Floats, metric: Floats, inputs: Ids, statistic: str, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """A correlation over all rows ``(n,)``, with draws of whole ``inputs``; NaN if undefined.

    Rows with a NaN are left out; all metrics on the same rows use the same resamples.
    """
    rows = judged_rows(human, metric, inputs)
    of_weights = named(statistic).engine(rows, "pooled")
    draws = bootstrap_values(of_weights, rows.units, resamples, seed) if resamples else np.empty(0)
    return Estimate(float(of_weights(np.ones((1, rows.units)))[0]), draws)


def curve(label: str, colour: str, steps: Sequence[float], estimates: Sequence[Estimate]) -> Curve:
    """The values of estimates as a line over ``steps``."""
    return Curve(label, colour, np.array(steps, dtype=np.float64), np.array([item.value for item in estimates]))


def mean_estimate(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean of independent values ``(n,)``, with draws of single values."""
    times = np.random.default_rng(seed).multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
    return Estimate(float(values.mean()), times @ values / len(values))
