"""Agreement of judges: Krippendorff's alpha, and the correlation of one judge with the others as a metric's ceiling.

Judgments are a matrix (n, judges), NaN for none. A column is a person, or the first, second, ... judgment of each item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.coefficients.statistic import Engine, even
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import interval
from rlsum.evaluation.rows import Floats, Ids, Ints, Rows, check_option, constant, judged_rows, numbered
from rlsum.evaluation.statistics import OF_CORRELATIONS, Uncertainty

Scale = Literal["nominal", "ordinal", "interval"]
Judges = Literal["named", "anonymous"]

FEW = 3  # items a judge must share with others: a correlation of two items is always 1 or -1


@dataclass(frozen=True)
class Agreement:
    """Agreement on the ``n`` items with two judgments or more (``judgments`` in total); NaN for the ``reason``."""

    value: float
    low: float
    high: float
    n: int
    judgments: int
    reason: str = ""


def krippendorff_alpha(
    judgments: ArrayLike, *, scale: Scale = "interval", inputs: Ids | None = None, how: Uncertainty = OF_CORRELATIONS
) -> Agreement:
    """Krippendorff's alpha of ``judgments`` (n, judges), NaN = none: 1 is perfect, 0 is chance, negative is worse.

    ``alpha = 1 - D_o / D_e`` (Krippendorff 2011): the mean squared difference of two judgments of one item over that of
    any two. ``scale``: nominal (equal or not), ordinal (differences of mean ranks, as he defines it), interval. The
    bootstrap draws whole ``inputs`` (n,), or single items. NaN if no item has two judgments or all judgments are the
    same. Raises ValueError for an unknown scale, judgments that are not a matrix or infinite.
    """
    check_option("scale", scale, Scale)
    matrix, unit, units = pairable(judgments, inputs)
    result = Agreement(np.nan, np.nan, np.nan, len(matrix), int((~np.isnan(matrix)).sum()))
    if not len(matrix):
        return replace(result, reason="no item has two judgments")
    if np.nanmin(matrix) == np.nanmax(matrix):
        return replace(result, reason="all judgments are the same")
    return with_interval(result, _alpha(matrix, unit, units, scale), unit, units, how)


def judge_ceiling(
    judgments: ArrayLike,
    *,
    judges: Judges,
    statistic: str = "spearman",
    inputs: Ids | None = None,
    how: Uncertainty = OF_CORRELATIONS,
) -> Agreement:
    """The pooled correlation of one judge with the mean of the others: the value of a metric as good as a judge.

    ``judges="named"``: columns of ``judgments`` (n, judges) are people; each is correlated with the mean of the others
    on their common items, and the correlations are averaged. ``judges="anonymous"``: every judgment is paired with the
    mean of the others of its item and all pairs are correlated at once. The others are one judge fewer than a metric is
    compared with, so the ceiling is slightly low. The bootstrap draws whole ``inputs``, or single items. Judges with
    fewer than 3 common items or constant scores are left out; NaN if none is left. Raises ValueError for unknown
    options, judgments that are not a matrix or infinite.
    """
    check_option("judges", judges, Judges)
    if (stat := named(statistic)).accuracy:
        raise ValueError(f"statistic={statistic!r} is an accuracy; use a correlation, such as spearman")
    matrix, unit, units = pairable(judgments, inputs)
    result = Agreement(np.nan, np.nan, np.nan, len(matrix), int((~np.isnan(matrix)).sum()))
    if not len(matrix):
        return replace(result, reason="no item has two judgments")
    others = _mean_of_others(matrix)
    columns = [[judge] for judge in range(matrix.shape[1])] if judges == "named" else [list(range(matrix.shape[1]))]
    parts = [_rows(matrix[:, column], others[:, column], unit, units) for column in columns]
    varied = [rows for rows in parts if len(rows) >= FEW and not (constant(rows.human) or constant(rows.metric))]
    if not varied:
        return replace(result, reason=f"no judge has {FEW} items on which their scores and the others' vary")
    return with_interval(result, _mean([stat.engine(rows, "pooled") for rows in varied]), unit, units, how)


def pairable(judgments: ArrayLike, inputs: Ids | None) -> tuple[Floats, Ints, int]:
    """The items with at least two judgments (m, judges), the number of the input of each, and the number of inputs."""
    matrix = np.asarray(judgments, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"judgments has shape {matrix.shape}; a matrix of items by judges is needed")
    if np.isinf(matrix).any():
        raise ValueError("judgments holds an infinite score; write NaN where a judge did not judge")
    unit, units = numbered("inputs", inputs, len(matrix))
    kept = (~np.isnan(matrix)).sum(1) > 1
    return matrix[kept], unit[kept], units


def _alpha(matrix: Floats, unit: Ints, units: int, scale: Scale) -> Engine:
    """Alpha (b,) under weights of the units (b, units)."""
    if scale == "interval":
        return _interval_alpha(matrix, unit, units)
    present = ~np.isnan(matrix)
    distinct, code = np.unique(matrix[present], return_inverse=True)
    item = np.nonzero(present)[0]
    counts = np.zeros((len(matrix), len(distinct)))  # of each value for each item
    np.add.at(counts, (item, code), 1)
    size = counts.sum(1)
    within = np.zeros((units, len(distinct)))
    np.add.at(within, unit, counts)

    def nominal(weights: Floats) -> Floats:
        observed = weights @ np.bincount(unit, (size**2 - (counts**2).sum(1)) / (size - 1), units)
        total = weights @ within
        number = total.sum(1)
        return _corrected(observed * (number - 1), number**2 - (total**2).sum(1))

    def ordinal(weights: Floats) -> Floats:
        total = weights @ within
        number = total.sum(1)
        ranks = np.cumsum(total, axis=1) - total / 2
        ranks -= ranks.mean(1, keepdims=True)
        sums, squares = ranks @ counts.T, ranks**2 @ counts.T  # (b, items)
        observed = (weights[:, unit] * (size * squares - sums**2) / (size - 1)).sum(1)
        spread = number * (total * ranks**2).sum(1) - (total * ranks).sum(1) ** 2
        return _corrected(observed * (number - 1), spread)

    return nominal if scale == "nominal" else ordinal


def _interval_alpha(matrix: Floats, unit: Ints, units: int) -> Engine:
    """Alpha on the interval scale from sums over units: continuous scores have as many values as judgments."""
    scaled = (matrix - np.nanmean(matrix)) / (np.nanmax(matrix) - np.nanmin(matrix))
    size, sums, squares = (~np.isnan(matrix)).sum(1), np.nansum(scaled, 1), np.nansum(scaled**2, 1)
    columns = size, sums, squares, (size * squares - sums**2) / (size - 1)
    of_units = np.stack([np.bincount(unit, column, units) for column in columns], axis=1)

    def alpha(weights: Floats) -> Floats:
        number, total, total_squares, observed = (weights @ of_units).T
        return _corrected(observed * (number - 1), number * total_squares - total**2)

    return alpha


def _corrected(observed: Floats, expected: Floats) -> Floats:
    """1 - D_o / D_e (b,); NaN where D_e is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _mean_of_others(matrix: Floats) -> Floats:
    """For each judgment the mean of the other judgments of its item (m, judges); NaN for a missing judgment."""
    present = ~np.isnan(matrix)
    filled = np.where(present, matrix, 0.0)
    others = np.maximum(present.sum(1, keepdims=True) - 1, 1)
    means = np.where(present, (filled.sum(1, keepdims=True) - filled) / others, np.nan)
    return even(means.ravel()).reshape(means.shape)


def _rows(judge: Floats, others: Floats, unit: Ints, units: int) -> Rows:
    """Single judgments as the metric, the mean of the others as the human score."""
    rows = judged_rows(others.ravel(), judge.ravel())
    kept = ~np.isnan(judge.ravel())
    return replace(rows, unit=np.repeat(unit, judge.shape[1])[kept], units=units)


def _mean(engines: list[Engine]) -> Engine:
    def mean(weights: Floats) -> Floats:
        values = np.stack([value(weights) for value in engines])
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.where(defined, values, 0.0).sum(0) / defined.sum(0)

    return mean


def with_interval(result: Agreement, value: Engine, unit: Ints, units: int, how: Uncertainty) -> Agreement:
    """``result`` with the value of an engine and its bootstrap interval over ``units``; no interval if no resamples."""
    ends = interval(value, unit, units, how)
    return replace(result, value=float(value(np.ones((1, units)))[0]), **ends._asdict())
