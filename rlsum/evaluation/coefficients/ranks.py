"""Ranks of values, and weighted ranks."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.rows import Floats


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


class WeightedRanks:
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
