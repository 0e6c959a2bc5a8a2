"""What each text adds to a correlation: its influence, from which the spread over clusters of texts follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.rows import Floats, Rows
from rlsum.evaluation.weighted import Level, matrices

Shares = tuple[Floats, Floats, Floats]


def influence(x: Floats, y: Floats, statistic: str) -> tuple[Floats, Floats]:
    """A coefficient (...) of ``x`` and ``y`` (..., n), and n times its change by one text with a grain more weight.

    The influence (..., n) has mean 0. NaN where a variable is constant.
    """
    shares, order = SHARES[statistic]
    both, across, down = shares(x, y)
    x_mean, y_mean = across.mean(-1, keepdims=True), down.mean(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = both / np.sqrt(x_mean * y_mean)
        value = both.mean(-1, keepdims=True)
        return value[..., 0], order * (both - value / 2 * (across / x_mean + down / y_mean))


def row_influence(rows: Rows, statistic: str, level: Level) -> tuple[float, Floats]:
    """A pooled or input-level coefficient and the change (n,) that each row makes to it."""
    if level == "pooled":
        value, change = influence(rows.human, rows.metric, statistic)
        return float(value), change / len(rows)
    changes, values = np.zeros(len(rows)), np.full(rows.units, np.nan)
    for units, members in matrices(rows):
        values[units], change = influence(rows.human[members], rows.metric[members], statistic)
        changes[members] = change / members.shape[1]
    mean, defined = float(np.nanmean(values)), ~np.isnan(values)
    changes += (values[rows.unit] - mean) / np.bincount(rows.unit)[rows.unit]
    return mean, np.where(defined[rows.unit], changes, 0.0) / defined.sum()


def _pearson(x: Floats, y: Floats) -> Shares:
    x, y = (values - values.mean(-1, keepdims=True) for values in (x, y))
    return x * y, x * x, y * y


def _spearman(x: Floats, y: Floats) -> Shares:
    x_ranks, y_ranks = _Ranks(x), _Ranks(y)
    f, g = x_ranks.share, y_ranks.share
    return f * g + x_ranks.above(g) + y_ranks.above(f), f * f + 2 * x_ranks.above(f), g * g + 2 * y_ranks.above(g)


def _kendall(x: Floats, y: Floats) -> Shares:
    dx, dy = (np.sign(values[..., :, None] - values[..., None, :]) for values in (x, y))
    return (dx * dy).mean(-1), (dx * dx).mean(-1), (dy * dy).mean(-1)


class _Ranks:
    """Ranks of values (..., n): the share of texts below each, ties half, less the mean of that."""

    def __init__(self, values: Floats) -> None:
        self.order = np.argsort(values, axis=-1)
        self.below = rankdata(values, "min", axis=-1).astype(np.int64) - 1
        self.upto = rankdata(values, "max", axis=-1).astype(np.int64)
        self.share = (self.below + self.upto) / (2 * values.shape[-1])
        self.share -= self.share.mean(-1, keepdims=True)

    def above(self, other: Floats) -> Floats:
        """By how much a text raises the product with ``other``, of mean 0: half the sum above it less that below."""
        sums = np.cumsum(np.take_along_axis(other, self.order, -1), -1)
        sums = np.concatenate([np.zeros_like(sums[..., :1]), sums], -1)
        below, upto = (np.take_along_axis(sums, at, -1) for at in (self.below, self.upto))
        return -(below + upto) / (2 * other.shape[-1])


# Of each coefficient: what a text adds to the covariance and both variances, and of how many texts they are averages.
SHARES: dict[str, tuple[Callable[[Floats, Floats], Shares], int]] = {
    "pearson": (_pearson, 1),
    "spearman": (_spearman, 3),
    "kendall": (_kendall, 2),
}
