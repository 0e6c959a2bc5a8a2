"""Two systems at equal length: what remains of a difference of scores where the summaries are equally long.

A longer summary can score higher by its length alone. The differences of scores are regressed on the differences of
length, within each seed, and the difference is predicted for a length difference of 0. Where both summaries are equally
long, no function of length alone gives a difference, whether it is a line, has a peak as F1 has, or ends at a cap. A
line through all pairs would be bent by the distant ones, so pairs count less the more their lengths differ, and not at
all beyond one standard deviation (local linear regression; Fan 1993). What remains is biased by articles on which a
system is both longer and better for another reason. scripts/calibration/equal_length.py compares the alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.hierarchical import Difference, complete, mean_difference, paired_table

SUPPORT = 0.05  # the share of summaries that must lie on each side of equal length
FEWEST = 30  # pairs of about equal length, by their weights (Kish 1965)


@dataclass(frozen=True)
class EqualLength:
    """A difference as it is, and at equal length.

    ``length``: mean difference of length in tokens. ``slope``: score a token, near equal length. ``shorter``: the share
    of pairs in which the first system is not longer, ``longer``: in which it is not shorter; a tie counts in both.
    ``reason``: why there is no number at equal length, or "". The two tests are not a family: the second explains the
    first.
    """

    raw: Difference
    adjusted: Difference
    length: float
    slope: float
    shorter: float
    longer: float
    reason: str = ""


def at_equal_length(a: ArrayLike, b: ArrayLike, lengths_a: ArrayLike, lengths_b: ArrayLike) -> EqualLength:
    """System ``a`` less ``b`` at equal length; scores and lengths in tokens as in `compare_systems`.

    Undefined where fewer than ``SUPPORT`` of the pairs lie on one side of equal length, because the difference at equal
    length would then be an extrapolation, and where fewer than ``FEWEST`` are about equally long.
    """
    scores, lengths = paired_table(a, b), paired_table(lengths_a, lengths_b)
    if scores.shape != lengths.shape:
        raise ValueError(f"scores have shape {scores.shape} and lengths {lengths.shape}; give both of the same texts")
    lengths = np.where(np.isnan(scores), np.nan, lengths)
    scores = np.where(np.isnan(lengths), np.nan, scores)
    raw = mean_difference(scores)
    scores, lengths = complete(scores), complete(lengths)
    if scores.size < 3:
        nan = float("nan")
        return EqualLength(raw, mean_difference(np.full((1, 1), nan)), nan, nan, nan, nan, "too few articles")
    shorter, longer = float(np.mean(lengths <= 0)), float(np.mean(lengths >= 0))
    mean, near = float(lengths.mean()), closeness(lengths)
    reason = ""
    if not lengths.std():
        reason = "" if mean == 0 else "the lengths differ by the same in every pair"
    elif min(shorter, longer) < SUPPORT:
        reason = f"one is longer in {max(1 - shorter, 1 - longer):.0%} of the pairs"
    elif near.sum() ** 2 < FEWEST * (near**2).sum() or not near.any(axis=1).all():
        reason = f"fewer than {FEWEST} pairs are about equally long"
    values, slope = (np.full(scores.shape, np.nan), float("nan")) if reason else influence(scores, lengths, near)
    return EqualLength(raw, mean_difference(values), mean, slope, shorter, longer, reason)


def closeness(lengths: Floats) -> Floats:
    """Weights (seeds, articles) of pairs: 1 at equal length, 0 from one standard deviation of the differences on."""
    spread = float(lengths.std())
    return np.clip(1 - (lengths / spread) ** 2, 0, None) if spread else np.ones(lengths.shape)


def influence(scores: Floats, lengths: Floats, weights: Floats) -> tuple[Floats, float]:
    """Values (seeds, articles) whose mean is the difference at equal length, and the slope, 0 where no length differs.

    A seed has an intercept of its own, the slope is common, both by weighted least squares; the mean of the intercepts
    is the difference. Each value is the pair's own part of it, the error of the slope included, so that the test of the
    mean counts that error, too (a linearisation; Hampel 1974).
    """
    total = weights.sum(axis=1, keepdims=True)
    length, score = ((weights * values).sum(axis=1, keepdims=True) / total for values in (lengths, scores))
    inner = lengths - length
    spread = float((weights * inner**2).sum())
    slope = float((weights * inner * (scores - score)).sum()) / spread if spread > 1e-12 else 0.0
    error = scores - score - slope * inner
    of_mean = scores.shape[1] * weights * error / total
    of_slope = scores.size * weights * inner * error / spread if spread > 1e-12 else 0.0
    return score - slope * length + of_mean - length.mean() * of_slope, slope
