"""Spearman's rho: Pearson's r of ranks, tied values sharing their mean rank."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.coefficients import pearson
from rlsum.evaluation.coefficients.statistic import Engine, Fewest, Shares, Statistic, in_blocks, ratio
from rlsum.evaluation.rows import Floats, Rows


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho of ``x`` and ``y`` (..., n); (...)."""
    return pearson.pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def _pooled(rows: Rows) -> Engine:
    human, metric = _WeightedRanks(rows.human), _WeightedRanks(rows.metric)

    def correlate(weights: Floats) -> Floats:
        weight = weights[:, rows.unit]
        (x, xx), (y, yy) = human.centred(weight), metric.centred(weight)
        return ratio(np.einsum("bn,bn,bn->b", weight, x, y), xx, yy)

    return in_blocks(correlate, len(rows))


class Ranks:
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


class _WeightedRanks:
    """Weighted ranks of fixed values (n,), which are sorted once."""

    def __init__(self, values: Floats) -> None:
        distinct, self.code = np.unique(values, return_inverse=True)
        self.order = np.argsort(self.code, kind="stable")
        self.starts = np.searchsorted(self.code[self.order], np.arange(len(distinct)))

    def centred(self, weight: Floats) -> tuple[Floats, Floats]:
        """Mean ranks less their mean (b, n), and their weighted sum of squares (b,), under ``weight`` (b, n)."""
        mass = np.add.reduceat(weight[:, self.order], self.starts, axis=1)
        ranks = np.cumsum(mass, axis=1)
        ranks -= (mass + ranks[:, -1:]) / 2
        return ranks[:, self.code], np.einsum("bv,bv,bv->b", mass, ranks, ranks)


def _shares(x: Floats, y: Floats) -> Shares:
    x_ranks, y_ranks = Ranks(x), Ranks(y)
    f, g = x_ranks.share, y_ranks.share
    return f * g + x_ranks.above(g) + y_ranks.above(f), f * f + 2 * x_ranks.above(f), g * g + 2 * y_ranks.above(g)


SPEARMAN = Statistic(
    "spearman",
    spearman,
    {"pooled": _pooled},
    influence=(_shares, 3),
    # Bonett and Wright 2000, who divide by n - 3
    sampling=(pearson.fisher, lambda true, n: np.sqrt((1 + true**2 / 2) / (n - 2))),
    given={"input": Fewest(4, 4, 10, 10), "pooled": Fewest(1, 1, 30, 30)},
    new={"system": Fewest(16, 16), "pooled": Fewest(24, 0, 100, 100), "input": Fewest(24, 0, 100, 100)},
    williams=True,
    of_ranks=pearson.pooled,
)
