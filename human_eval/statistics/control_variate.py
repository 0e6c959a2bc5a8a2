"""Metric scores make the estimate of a preference surer, without bias (Chaganty, Mussmann and Liang 2018, section 3).

People judge n items, a metric scores these and many more. Where the metric's difference of the two systems goes along
with the preference, the judged items' luck in it is known, and taken out. However bad the metric, nothing is biased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from human_eval.statistics.preference import FEWEST, item_interval
from human_eval.statistics.votes import Floats
from rlsum.evaluation.statistics import LEVEL, RESAMPLES, bootstrap_interval


@dataclass(frozen=True)
class ControlVariate:
    """The share of the second system with the metric's help, as `Preference` has it without.

    ``width`` is the width of the interval as a share of the one without the metric: .9 is a tenth narrower, and
    ``1 / width**2 - 1`` the share of judged items that this spares. ``correlation`` is Pearson's r of the preference
    and the metric's difference on the ``judged`` items; ``others`` are scored and not judged; on ``undefined`` items
    the metric has no difference. NaN where ``reason`` says why.
    """

    share: float
    low: float
    high: float
    width: float
    correlation: float
    judged: int
    others: int
    undefined: int
    reason: str = ""


def control_variate(
    means: ArrayLike,
    judged: ArrayLike,
    others: ArrayLike,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ControlVariate:
    """The mean of ``means`` (n,), preferences of items in [-1, 1], with the help of a metric, as a share in [0, 1].

    ``judged`` (n,) and ``others`` (m,) are a metric's score of the second system less that of the first, on the judged
    items and on the others of the population they were drawn from at random; NaN = undefined, taken as the mean, which
    leaves that item as it was judged: any function of an item's texts may be the control.

    ``mean(means - b_i (judged - mean(others)))`` with the slope ``b_i`` fitted on all judged items but i: item i has
    no say in its own correction, so the expectation is exactly the preference, whatever the metric. The slope is m /
    (n + m) of the least squares one, because the mean of all items is itself known from n + m only. The interval joins
    that of the corrected items with that of the others' mean (Zou and Donner 2008).
    Raises ValueError for vectors of unequal length.
    """
    means, judged, others = (np.asarray(each, dtype=np.float64) for each in (means, judged, others))
    if len(means) != len(judged):
        raise ValueError(f"means has {len(means)} items and judged {len(judged)}; pair them first")
    undefined = int(np.isnan(judged).sum() + np.isnan(others).sum())
    nan = float("nan")
    found = (len(judged), len(others), undefined)
    if reason := _undefined(judged, others):
        return ControlVariate(nan, nan, nan, nan, nan, *found, reason)
    centre = np.nanmean(np.concatenate([judged, others]))
    judged, others = (np.where(np.isnan(each), 0.0, each - centre) for each in (judged, others))
    correlation = nan if np.ptp(means) == 0 else float(np.corrcoef(means, judged)[0, 1])
    kept = len(others) / (len(judged) + len(others))
    slopes = kept * slopes_without(means, judged)
    corrected = means - slopes * (judged - others.mean())
    plain = item_interval(means, level=level, resamples=resamples, seed=seed)
    own = item_interval(corrected, level=level, resamples=resamples, seed=seed)
    slack = abs(float(slopes.mean())) * _halfwidth(others, level, resamples, seed + 1)
    low, high = (own.mean - np.hypot(own.mean - own.low, slack), own.mean + np.hypot(own.high - own.mean, slack))
    width = float((high - low) / (plain.high - plain.low))
    share, low, high = (float((1 + each) / 2) for each in (own.mean, low, high))
    return ControlVariate(share, low, high, width, correlation, *found)


def slopes_without(means: Floats, judged: Floats) -> Floats:
    """The least squares slope of ``means`` on ``judged`` (n,), each fitted without item i (n,); 0 where none exists."""
    n = len(means) - 1
    x, y = judged.sum() - judged, means.sum() - means
    square, product = (judged**2).sum() - judged**2, (judged * means).sum() - judged * means
    spread = square - x**2 / n
    return np.divide(product - x * y / n, spread, out=np.zeros(len(means)), where=spread > 1e-12 * (judged**2).sum())


def _halfwidth(values: Floats, level: float, resamples: int, seed: int) -> float:
    """Half the width of the interval of a mean; 0 where it cannot vary."""
    if len(values) < 2 or np.ptp(values) == 0:
        return 0.0
    found = bootstrap_interval(values, level=level, resamples=min(resamples, 1_000), seed=seed)
    return (found.high - found.low) / 2


def _undefined(judged: Floats, others: Floats) -> str:
    if len(judged) < FEWEST:
        return f"fewer than {FEWEST} judged items"
    if not (~np.isnan(others)).any():
        return "the metric scores no items but the judged: score the whole test set to gain from it"
    if (~np.isnan(judged)).sum() < FEWEST:
        return f"the metric is defined on fewer than {FEWEST} judged items"
    return "the metric's difference is the same on all judged items" if np.nanmax(judged) == np.nanmin(judged) else ""
