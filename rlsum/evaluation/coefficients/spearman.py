"""Spearman's rho: Pearson's r of ranks, tied values sharing their mean rank."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.coefficients import pearson
from rlsum.evaluation.coefficients.ranks import Ranks, WeightedRanks
from rlsum.evaluation.coefficients.statistic import (
    Engine,
    Fewest,
    Influence,
    Sampling,
    Shares,
    Statistic,
    in_blocks,
    ratio,
)
from rlsum.evaluation.rows import Floats, Rows


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho of ``x`` and ``y`` (..., n); (...)."""
    return pearson.pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def _pooled(rows: Rows) -> Engine:
    human, metric = WeightedRanks(rows.human), WeightedRanks(rows.metric)

    def correlate(weights: Floats) -> Floats:
        weight = weights[:, rows.unit]
        (x, xx), (y, yy) = human.centred(weight), metric.centred(weight)
        return ratio(np.einsum("bn,bn,bn->b", weight, x, y), xx, yy)

    return in_blocks(correlate, len(rows))


def _shares(x: Floats, y: Floats) -> Shares:
    x_ranks, y_ranks = Ranks(x), Ranks(y)
    f, g = x_ranks.share, y_ranks.share
    return f * g + x_ranks.above(g) + y_ranks.above(f), f * f + 2 * x_ranks.above(f), g * g + 2 * y_ranks.above(g)


SPEARMAN = Statistic(
    "spearman",
    spearman,
    {"pooled": _pooled},
    influence=Influence(_shares, 3),
    # Bonett and Wright 2000, who divide by n - 3
    sampling=Sampling(pearson.fisher, lambda true, n: np.sqrt((1 + true**2 / 2) / (n - 2))),
    given={"input": Fewest(4, 4, 10, 10), "pooled": Fewest(1, 1, 30, 30)},
    new={"system": Fewest(16, 16), "pooled": Fewest(24, 0, 100, 100), "input": Fewest(24, 0, 100, 100)},
    williams=True,
    of_ranks=pearson.pooled,
)
