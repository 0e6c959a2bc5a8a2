"""What each text adds to a correlation: its influence, from which the spread over clusters of texts follows."""

from __future__ import annotations

import numpy as np

from rlsum.evaluation.coefficients.statistic import Level, matrices
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.rows import Floats, Rows


def influence(x: Floats, y: Floats, statistic: str) -> tuple[Floats, Floats]:
    """A coefficient (...) of ``x`` and ``y`` (..., n), and n times its change by one text with a grain more weight.

    The influence (..., n) has mean 0. NaN where a variable is constant.
    """
    function = named(statistic).influence
    assert function is not None, f"{statistic} has no influence"
    shares, order = function
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
