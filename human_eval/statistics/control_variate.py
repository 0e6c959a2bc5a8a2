"""Metric scores as control variates of a preference (Chaganty, Mussmann and Liang 2018, section 3).

People judge n items; a metric scores these and many more. If the metric's difference between the two systems correlates
with the preference, it reduces the variance of the estimate. The estimate is unbiased for every metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import pearsonr, t

from human_eval.votes.votes import Floats
from rlsum.evaluation.statistics import LEVEL

FEWEST = 5  # items needed for an interval


@dataclass(frozen=True)
class ControlVariate:
    """The share of the second system, estimated with the scores of a metric.

    ``width``: width of the interval relative to that without the metric; ``1 / width**2 - 1`` is the relative number of
    judged items saved. ``correlation``: Pearson's r of preference and metric difference on the ``judged`` items;
    ``p``: its two-sided test, since a metric without correlation may narrow an interval by chance.
    ``others``: number of items scored but not judged; ``undefined``: items without a metric difference. NaN if
    undefined; ``reason`` says why.
    """

    share: float
    low: float
    high: float
    width: float
    correlation: float
    p: float
    judged: int
    others: int
    undefined: int
    reason: str = ""


def control_variate(means: ArrayLike, judged: ArrayLike, others: ArrayLike, *, level: float = LEVEL) -> ControlVariate:
    """The mean of ``means`` (n,), item preferences in [-1, 1], with a metric as control variate, as a share in [0, 1].

    ``judged`` (n,) and ``others`` (m,): the metric's score of the second system minus that of the first, on the judged
    items and on the others of the population from which they were sampled. NaN is replaced by the mean, which leaves
    the item's preference unchanged; any function of an item's texts is a valid control.

    ``mean(means - b_i (judged - mean(others)))`` with the slope ``b_i`` fitted on all judged items but i, which makes
    the estimate exactly unbiased. The slope is m / (n + m) of the least squares one, because the mean of all items is
    itself estimated from n + m items. The interval is Student's, with the variance of the corrected items and that
    of the others' mean.
    Raises ValueError for vectors of unequal length.
    """
    means, judged, others = (np.asarray(numbers, dtype=np.float64) for numbers in (means, judged, others))
    if len(means) != len(judged):
        raise ValueError(f"means has {len(means)} items and judged {len(judged)}; pair them first")
    undefined = int(np.isnan(judged).sum() + np.isnan(others).sum())
    counts = (len(judged), len(others), undefined)
    if reason := _undefined(means, judged, others):
        return ControlVariate(np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, *counts, reason)
    centre = np.nanmean(np.concatenate([judged, others]))
    judged, others = (np.where(np.isnan(numbers), 0.0, numbers - centre) for numbers in (judged, others))
    correlation, p = map(float, pearsonr(means, judged))
    kept = len(others) / (len(judged) + len(others))
    slopes = kept * slopes_without(means, judged)
    corrected = means - slopes * (judged - others.mean())
    slack = slopes.mean() ** 2 * others.var(ddof=1) / len(others) if len(others) > 1 else 0.0
    deviation = np.sqrt(corrected.var(ddof=1) / len(means) + slack)
    width = float(deviation / np.sqrt(means.var(ddof=1) / len(means)))
    mean, half = corrected.mean(), t.isf((1 - level) / 2, len(means) - 1) * deviation
    low, high = max(-1.0, mean - half), min(1.0, mean + half)
    share, low, high = (float((1 + end) / 2) for end in (mean, low, high))
    return ControlVariate(share, low, high, width, correlation, p, *counts)


def slopes_without(means: Floats, judged: Floats) -> Floats:
    """The least squares slope of ``means`` on ``judged`` (n,), each fitted without item i (n,); 0 if undefined."""
    n = len(means) - 1
    x, y = judged.sum() - judged, means.sum() - means
    square, product = (judged**2).sum() - judged**2, (judged * means).sum() - judged * means
    spread = square - x**2 / n
    return np.divide(product - x * y / n, spread, out=np.zeros(len(means)), where=spread > 1e-12 * (judged**2).sum())


def _undefined(means: Floats, judged: Floats, others: Floats) -> str:
    if len(judged) < FEWEST:
        return f"fewer than {FEWEST} judged items"
    if np.ptp(means) < 1e-12:
        return "all items have the same mean vote: no metric can explain any difference"
    if not (~np.isnan(others)).any():
        return "the metric scores only judged items; score the whole test set"
    if (~np.isnan(judged)).sum() < FEWEST:
        return f"the metric is defined on fewer than {FEWEST} judged items"
    return "the metric's difference is the same on all judged items" if np.nanmax(judged) == np.nanmin(judged) else ""
