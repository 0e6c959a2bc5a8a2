"""Williams' test of whether one metric agrees with people more than another: independent items, normal scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kurtosis, skew
from scipy.stats import t as student

from rlsum.evaluation.coefficients import COEFFICIENTS
from rlsum.evaluation.rows import Floats, Rows, constant

SKEWED = 1.0  # skewness above which the level of the test is unreliable
HEAVY = 3.0  # excess kurtosis above which it is


class Williams(NamedTuple):
    """t and its p-values: one-tailed for the first metric being better, and two-tailed; NaN with a reason."""

    t: float
    p_greater: float
    p: float
    reason: str = ""


def williams(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> tuple[Floats, Floats]:
    """Williams' t (...) and its one-tailed p (...) that r12 exceeds r13, for n independent items; df = n - 3.

    ``r12`` and ``r13`` (...) are the correlations of the two metrics with people, ``r23`` theirs with each other
    (Graham and Baldwin 2014, after Williams 1959). Signs matter: metrics must point the same way as the human scores.
    NaN for n <= 3 and for a denominator of 0.
    """
    r12, r13, r23 = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    if n <= 3:
        nothing = np.full(np.broadcast_shapes(r12.shape, r13.shape, r23.shape), np.nan)
        return nothing, nothing
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / np.sqrt(np.where(below > 1e-12, below, np.nan))
    return t, student.sf(t, n - 3)


def williams_test(first: Rows, second: Rows, statistic: str) -> Williams:
    """Williams' test that the first metric agrees with people more than the second, on rows from `paired_rows`.

    ``statistic``: pearson, for which the test was derived, or spearman, as in Clark et al. (2019).
    Raises ValueError for another statistic.
    """
    nan = float("nan")
    if statistic not in ("pearson", "spearman"):
        raise ValueError(f"statistic={statistic!r} has no Williams' test; use pearson, spearman or a permutation")
    if len(first) <= 3:
        return Williams(nan, nan, nan, f"{len(first)} rows have both metrics; Williams' test needs more than 3")
    if any(constant(values) for values in (first.human, first.metric, second.metric)):
        return Williams(nan, nan, nan, "the human scores or those of a metric are constant")
    t, p = williams(*correlations(first, second, statistic), len(first))
    if np.isnan(t):
        return Williams(nan, nan, nan, "the denominator of Williams' t is 0: the metrics give the same scores")
    return Williams(float(t), float(p), float(2 * student.sf(abs(t), len(first) - 3)))


def correlations(first: Rows, second: Rows, statistic: str) -> tuple[float, float, float]:
    """r of people and the first metric, of people and the second, and of the two metrics."""
    coefficient = COEFFICIENTS[statistic]
    pairs = ((first.human, first.metric), (second.human, second.metric), (first.metric, second.metric))
    r12, r13, r23 = (float(coefficient(x, y)) for x, y in pairs)
    return r12, r13, r23


def far_from_normal(values: Floats) -> bool:
    """Whether ``values`` (n,) are so skewed or heavy-tailed that the level of the test is unreliable."""
    return not constant(values) and (abs(float(skew(values))) > SKEWED or float(kurtosis(values)) > HEAVY)
