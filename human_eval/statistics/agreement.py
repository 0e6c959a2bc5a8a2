"""Agreement of judges: Krippendorff's alpha, Fleiss' kappa, pairwise agreement, correlation within items.

Votes are a matrix (comparisons, judges) of -1, 0, 1, NaN = not judged. Intervals resample items.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from human_eval.statistics.votes import Floats
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha, pairable, with_interval
from rlsum.evaluation.correlation import LEVEL, RESAMPLES
from rlsum.evaluation.rows import Ids

SIDES = (-1.0, 0.0, 1.0)


def agreements(
    votes: ArrayLike, *, items: Ids | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Agreement]:
    """Name -> agreement of ``votes``: alpha (ordinal: a tie is between the two), kappa, pairwise, correlation."""
    measures = {"kappa": fleiss_kappa, "pairwise": pairwise_agreement, "correlation": intraitem_correlation}
    return {
        "alpha": krippendorff_alpha(votes, scale="ordinal", inputs=items, resamples=resamples, seed=seed),
        **{name: measure(votes, items=items, resamples=resamples, seed=seed) for name, measure in measures.items()},
    }


def fleiss_kappa(votes: ArrayLike, *, items: Ids | None = None, resamples: int = RESAMPLES, seed: int = 0) -> Agreement:
    """Fleiss' kappa of ``votes``: pairwise agreement beyond chance, 1 is perfect, 0 is chance (Fleiss 1971).

    ``(P - P_e) / (1 - P_e)``: P as in `pairwise_agreement`, ``P_e`` the sum of squared shares of the three answers over
    all votes. Comparisons may have different numbers of judges. NaN if all votes are equal.
    """
    return _of_pairs(votes, items, resamples, seed, beyond_chance=True)


def pairwise_agreement(
    votes: ArrayLike, *, items: Ids | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """The share of pairs of judges with the same answer, averaged over comparisons with two judges or more."""
    return _of_pairs(votes, items, resamples, seed, beyond_chance=False)


def intraitem_correlation(
    votes: ArrayLike, *, items: Ids | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """The correlation of two votes on one item, coded -1, 0, 1, as a plan assumes it.

    One-way analysis of variance, ICC(1) of Shrout and Fleiss 1979, with the mean group size of Donner 1986 for unequal
    groups. It may be slightly negative. NaN if no item has two votes, or all votes are equal.
    """
    matrix, unit, units = pairable(votes, items)
    result = _without_value(matrix)
    if result.reason:
        return result
    given = ~np.isnan(matrix)
    filled = np.where(given, matrix, 0.0)
    size, sums, squares = (np.bincount(unit, part.sum(1), units) for part in (given, filled, filled**2))
    within = squares - sums**2 / np.maximum(size, 1)

    def value(weights: Floats) -> Floats:
        """Correlation (b,) under weights of the items (b, units)."""
        number, groups = weights @ size, weights @ (size > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            between = weights @ (sums**2 / np.maximum(size, 1)) - (weights @ sums) ** 2 / number
            typical = (number - weights @ size**2 / number) / (groups - 1)
            above, below = between / (groups - 1), (weights @ within) / (number - groups)
            return (above - below) / (above + (typical - 1) * below)

    return with_interval(result, value, unit, units, LEVEL, resamples, seed)


def _of_pairs(votes: ArrayLike, items: Ids | None, resamples: int, seed: int, *, beyond_chance: bool) -> Agreement:
    matrix, unit, units = pairable(votes, items)
    result = _without_value(matrix)
    if result.reason and (beyond_chance or not len(matrix)):
        return result
    counts = np.stack([(matrix == side).sum(1) for side in SIDES], axis=1).astype(np.float64)
    size = counts.sum(1)
    agreed = ((counts**2).sum(1) - size) / (size * (size - 1))
    agreed, rows = np.bincount(unit, agreed, units), np.bincount(unit, minlength=units)
    answers = np.stack([np.bincount(unit, column, units) for column in counts.T], axis=1)

    def value(weights: Floats) -> Floats:
        """Agreement (b,) under weights of the items (b, units)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (weights @ agreed) / (weights @ rows)
            if not beyond_chance:
                return share
            total = weights @ answers
            chance = ((total / total.sum(1, keepdims=True)) ** 2).sum(1)
            return np.where(chance < 1, (share - chance) / (1 - chance), np.nan)

    return with_interval(replace(result, reason=""), value, unit, units, LEVEL, resamples, seed)


def _without_value(matrix: Floats) -> Agreement:
    """The sizes, and the reason why agreement beyond chance is undefined, if it is."""
    reason = ""
    if not len(matrix):
        reason = "no item has two judgments"
    elif np.nanmin(matrix) == np.nanmax(matrix):
        reason = "all judgments are the same"
    return Agreement(np.nan, np.nan, np.nan, len(matrix), int((~np.isnan(matrix)).sum()), reason)
