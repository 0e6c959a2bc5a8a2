"""Correlation coefficients over the last axis; NaN for fewer than two pairs, a NaN, or a constant variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau, rankdata

from rlsum.evaluation.rows import Floats

Coefficient = Callable[[Floats, Floats], Floats]

LONG = 200  # above this length, sorting each sample is faster than comparing all its pairs
FLAT = 1e-12  # deviations below this share of the values are rounding errors of a constant sample


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r of ``x`` and ``y`` (..., n); (...)."""
    x, y = _centred(x), _centred(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip((x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1)), -1, 1)


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho of ``x`` and ``y`` (..., n): Pearson's r of their ranks, tied values sharing their mean rank."""
    return pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of ``x`` and ``y`` (..., n)."""
    if x.shape[-1] > LONG:
        samples = zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]), strict=True)
        return np.array([kendalltau(*sample).statistic for sample in samples]).reshape(x.shape[:-1])
    dx, dy = _signs(x), _signs(y)
    pairs = (-2, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (dx * dy).sum(pairs) / np.sqrt((dx * dx).sum(pairs) * (dy * dy).sum(pairs))


def _centred(values: Floats) -> Floats:
    """``values`` less their mean; all 0 if they are constant up to rounding, so that rounding is not correlated."""
    if not values.shape[-1]:
        return values
    centred = values - values.mean(-1, keepdims=True)
    flat = (centred**2).mean(-1, keepdims=True) <= FLAT**2 * (values**2).mean(-1, keepdims=True)
    return np.where(flat, 0.0, centred)


def _signs(values: Floats) -> Floats:
    return np.sign(values[..., :, None] - values[..., None, :])


COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
