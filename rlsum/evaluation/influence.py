"""What each text adds to a correlation: its influence, from which the spread over clusters of texts follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.coefficients import LONG
from rlsum.evaluation.rows import Floats, Ints, Rows
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
    """A coefficient at a level and the change (n,) that each row makes to it; at level system Pearson's r alone."""
    if level == "pooled":
        value, change = influence(rows.human, rows.metric, statistic)
        return float(value), change / len(rows)
    if level == "system":
        return _of_means(rows)
    changes, values = np.zeros(len(rows)), np.full(rows.units, np.nan)
    for units, members in matrices(rows):
        values[units], change = influence(rows.human[members], rows.metric[members], statistic)
        changes[members] = change / members.shape[1]
    mean, defined = float(np.nanmean(values)), ~np.isnan(values)
    changes += (values[rows.unit] - mean) / np.bincount(rows.unit)[rows.unit]
    return mean, np.where(defined[rows.unit], changes, 0.0) / defined.sum()


def _of_means(rows: Rows) -> tuple[float, Floats]:
    """Pearson's r of the systems' means, and the change that each row makes by the mean of its system."""
    _, system, counts = np.unique(rows.system, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(system, column) / counts for column in (rows.human, rows.metric)])
    off = np.stack([rows.human, rows.metric]) - means[:, system]
    value, slopes = mean_slopes(means)
    return float(value), (slopes[:, system] * off).sum(0) / counts[system]


def mean_slopes(means: Floats) -> tuple[Floats, Floats]:
    """Pearson's r (...) of means (2, ..., systems) and its derivative by each mean (2, ..., systems)."""
    centred = means - means.mean(-1, keepdims=True)
    length = np.sqrt((centred**2).sum(-1, keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = centred / length
        value = (unit[0] * unit[1]).sum(-1)
        return value, (unit[::-1] - value[..., None] * unit) / length


def _pearson(x: Floats, y: Floats) -> Shares:
    x, y = (values - values.mean(-1, keepdims=True) for values in (x, y))
    return x * y, x * x, y * y


def _spearman(x: Floats, y: Floats) -> Shares:
    x_ranks, y_ranks = _Ranks(x), _Ranks(y)
    f, g = x_ranks.share, y_ranks.share
    return f * g + x_ranks.above(g) + y_ranks.above(f), f * f + 2 * x_ranks.above(f), g * g + 2 * y_ranks.above(g)


def _kendall(x: Floats, y: Floats) -> Shares:
    n = x.shape[-1]
    if n > LONG:
        samples = zip(x.reshape(-1, n), y.reshape(-1, n), strict=True)
        both = np.stack([concordance(*pair) for pair in samples]).reshape(x.shape) / n
        across, down = (1 - (ranks.upto - ranks.below) / n for ranks in (_Ranks(x), _Ranks(y)))
        return both, across, down
    dx, dy = (np.sign(values[..., :, None] - values[..., None, :]) for values in (x, y))
    return (dx * dy).mean(-1), (dx * dx).mean(-1), (dy * dy).mean(-1)


def concordance(x: Floats, y: Floats) -> Floats:
    """Of each of n texts: with how many others it is concordant, less discordant; about n sqrt(n) steps."""
    n, x_ranks, y_ranks = len(x), _Ranks(x), _Ranks(y)
    side = max(1, round(np.sqrt(n)))  # texts of a block, in the order of x
    blocks, code = -(-n // side), y_ranks.below
    sorted_code = code[x_ranks.order]
    cells = (np.arange(n) // side + 1) * (n + 1) + sorted_code + 1
    table = np.bincount(cells, minlength=(blocks + 1) * (n + 1)).reshape(blocks + 1, n + 1)
    table = table.cumsum(0, dtype=np.int32).cumsum(1, dtype=np.int32)  # of the first blocks: texts with a lower y
    padded = np.append(sorted_code, np.zeros(blocks * side - n, dtype=np.int64)).reshape(blocks, side).T.copy()

    def lower_less_higher(first: Ints) -> Ints:
        """Among the ``first`` texts by x, how many have a lower y than each text, less those with a higher."""
        block, rest = np.divmod(first, side)
        total: Ints = table[block, code] + table[block, y_ranks.upto] - block * side
        block = np.minimum(block, blocks - 1)
        for step in range(side):
            total = total + np.sign(code - padded[step, block]) * (step < rest)
        return total

    below = lower_less_higher(x_ranks.below)
    tied = (x_ranks.upto - x_ranks.below).max() > 1
    upto = lower_less_higher(x_ranks.upto) if tied else below
    return (below + upto - (y_ranks.below + y_ranks.upto - n)).astype(np.float64)


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
