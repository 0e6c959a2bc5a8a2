"""Pearson's r."""

from __future__ import annotations

import numpy as np

from rlsum.evaluation.coefficients.statistic import Engine, Fewest, Shares, Statistic, in_blocks, ratio
from rlsum.evaluation.rows import Floats, Rows

FLAT = 1e-12  # deviations below this share of the values are rounding errors of a constant sample


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r of ``x`` and ``y`` (..., n); (...)."""
    x, y = _centred(x), _centred(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip((x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1)), -1, 1)


def pooled(rows: Rows) -> Engine:
    """The engine of all rows, from sums over their units."""
    x, y = _standard(rows.human), _standard(rows.metric)
    columns = (np.ones(len(rows)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(rows.unit, weights=column, minlength=rows.units) for column in columns], axis=1)

    def correlate(weights: Floats) -> Floats:
        n, x, y, xx, yy, xy = (weights @ sums).T
        return ratio(n * xy - x * y, n * xx - x * x, n * yy - y * y, FLAT * n * xx, FLAT * n * yy)

    return in_blocks(correlate, len(rows))


def fisher(values: Floats) -> Floats:
    """Fisher's z."""
    return np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))


def _centred(values: Floats) -> Floats:
    """``values`` less their mean; all 0 if they are constant up to rounding, so that rounding is not correlated."""
    if not values.shape[-1]:
        return values
    centred = values - values.mean(-1, keepdims=True)
    flat = (centred**2).mean(-1, keepdims=True) <= FLAT**2 * (values**2).mean(-1, keepdims=True)
    return np.where(flat, 0.0, centred)


def _standard(values: Floats) -> Floats:
    """Values with mean 0 and deviation 1, for precise sums of squares. Constant values become 0."""
    largest = np.abs(values).max(initial=0.0)
    if not largest:
        return values
    centred = values / largest  # squares of huge and tiny scores stay in range
    centred -= centred.mean()
    spread = centred.std()
    return centred / spread if spread > FLAT else np.zeros_like(values)


def _shares(x: Floats, y: Floats) -> Shares:
    x, y = (values - values.mean(-1, keepdims=True) for values in (x, y))
    return x * y, x * x, y * y


PEARSON = Statistic(
    "pearson",
    pearson,
    {"pooled": pooled},
    influence=(_shares, 1),
    sampling=(fisher, lambda true, n: 1 / np.sqrt(n - 3 + 0 * true)),
    given={"system": Fewest(16, 4, 30, 100), "input": Fewest(4, 4, 10, 10), "pooled": Fewest(1, 1, 30, 30)},
    new={"system": Fewest(8, 8), "pooled": Fewest(0, 24, 30, 30)},
    normal=True,
    williams=True,
)
