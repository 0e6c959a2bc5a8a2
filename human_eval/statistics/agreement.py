"""Agreement of judges: Krippendorff's alpha, Fleiss' kappa, pairwise agreement, correlation within items.

Votes are a matrix (comparisons, judges) in [-1, 1], NaN = not judged. Kappa and pairwise agreement see their signs.
Intervals resample items. A measure is an engine: its values (b,) under weights of the items (b, units); ``unit``
(comparisons,) numbers the item of each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from human_eval.votes.votes import Floats
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha, pairable, with_interval
from rlsum.evaluation.coefficients.statistic import Engine
from rlsum.evaluation.rows import Ids, Ints
from rlsum.evaluation.statistics import USUAL, Uncertainty

MOST = 2_000  # resamples; each takes long


def agreements(votes: ArrayLike, *, items: Ids | None = None, how: Uncertainty = USUAL) -> dict[str, Agreement]:
    """Name -> agreement of ``votes``: alpha (ordinal: a tie is between the two), kappa, pairwise, correlation.

    NaN if no item has two votes and, but for pairwise, if all votes are equal.
    """
    matrix, unit, units = pairable(votes, items)
    how = replace(how, resamples=min(how.resamples, MOST))
    alpha = krippendorff_alpha(votes, scale="ordinal", inputs=items, how=how)
    undefined = replace(alpha, value=np.nan, low=np.nan, high=np.nan, reason="")
    measured = {}
    for name, (_, measure) in AGREEMENTS.items():
        if measure is None or (np.isnan(alpha.value) and (name != "pairwise" or not len(matrix))):
            measured[name] = alpha  # itself, or undefined for the same reason
        else:
            engine = measure(matrix, unit, units)
            measured[name] = with_interval(undefined, engine, unit, units, how)
    return measured


def pairwise_agreement(matrix: Floats, unit: Ints, units: int) -> Engine:
    """The share of pairs of judges with the same answer, averaged over comparisons with two judges or more."""
    counts = _counts(matrix)
    size = counts.sum(1)
    agreed = np.bincount(unit, ((counts**2).sum(1) - size) / (size * (size - 1)), units)
    rows = np.bincount(unit, minlength=units)

    def value(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ agreed) / (weights @ rows)

    return value


def fleiss_kappa(matrix: Floats, unit: Ints, units: int) -> Engine:
    """Fleiss' kappa: pairwise agreement beyond chance, 1 is perfect, 0 is chance (Fleiss 1971).

    ``(P - P_e) / (1 - P_e)``: P as in `pairwise_agreement`, ``P_e`` the sum of squared shares of the three answers over
    all votes. Comparisons may have different numbers of judges.
    """
    share = pairwise_agreement(matrix, unit, units)
    answers = np.stack([np.bincount(unit, column, units) for column in _counts(matrix).T], axis=1)

    def value(weights: Floats) -> Floats:
        total = weights @ answers
        with np.errstate(invalid="ignore", divide="ignore"):
            chance = ((total / total.sum(1, keepdims=True)) ** 2).sum(1)
            return np.where(chance < 1, (share(weights) - chance) / (1 - chance), np.nan)

    return value


def intraitem_correlation(matrix: Floats, unit: Ints, units: int) -> Engine:
    """The correlation of two votes on one item, coded -1, 0, 1, as a plan assumes it.

    One-way analysis of variance, ICC(1) of Shrout and Fleiss 1979, with the mean group size of Donner 1986 for unequal
    groups. It may be slightly negative.
    """
    present = ~np.isnan(matrix)
    filled = np.where(present, matrix, 0.0)
    size, sums, squares = (np.bincount(unit, values.sum(1), units) for values in (present, filled, filled**2))
    within = squares - sums**2 / np.maximum(size, 1)

    def value(weights: Floats) -> Floats:
        number, groups = weights @ size, weights @ (size > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            between = weights @ (sums**2 / np.maximum(size, 1)) - (weights @ sums) ** 2 / number
            typical = (number - weights @ size**2 / number) / (groups - 1)
            above, below = between / (groups - 1), (weights @ within) / (number - groups)
            return (above - below) / (above + (typical - 1) * below)

    return value


# Name -> its heading and its engine; alpha has a function of its own.
AGREEMENTS: dict[str, tuple[str, Callable[[Floats, Ints, int], Engine] | None]] = {
    "alpha": ("Krippendorff's alpha (ordinal)", None),
    "kappa": ("Fleiss' kappa", fleiss_kappa),
    "pairwise": ("pairs of judges who agree, %", pairwise_agreement),
    "correlation": ("correlation within items", intraitem_correlation),
}


def _counts(matrix: Floats) -> Floats:
    """How often each comparison got votes for the first, neither and the second (comparisons, 3)."""
    return np.stack([(np.sign(matrix) == side).sum(1) for side in (-1, 0, 1)], axis=1).astype(np.float64)
