"""Two systems at equal length: what remains of a difference of scores where the summaries are equally long.

A longer summary can score higher by its length alone. The differences of scores are regressed on the differences of
length, within each seed, and the difference is predicted for a length difference of 0. That is biased where the score
is no linear function of the length difference near 0, and by articles on which a system is both longer and better for
another reason. The alternative, only pairs that are about equally long, uses few of them and chooses them by what the
systems wrote; docs/results/seeds.md compares both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.hierarchical import Difference, complete, mean_difference, paired_table

SUPPORT = 0.05  # the share of summaries that must lie on each side of equal length


@dataclass(frozen=True)
class EqualLength:
    """A difference as it is, and at equal length.

    ``length``: mean difference of length in tokens. ``slope``: score a token. ``shorter``: the share of pairs in which
    the first system is not longer, ``longer``: in which it is not shorter; a tie counts in both. ``reason``: why there
    is no number at equal length, or "". The two tests are not a family: the second explains the first.
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

    Undefined where the lengths never differ, or where fewer than ``SUPPORT`` of the pairs lie on one side of equal
    length, because the difference at equal length would then be an extrapolation.
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
    values, slope = influence(scores, lengths)
    mean = float(lengths.mean())
    reason = ""
    if np.isnan(slope):
        adjusted = raw if mean == 0 else mean_difference(values)
        reason = "" if mean == 0 else "the lengths differ by the same in every pair"
    elif min(shorter, longer) < SUPPORT:
        adjusted = mean_difference(np.full(scores.shape, np.nan))
        reason = f"one is longer in {max(1 - shorter, 1 - longer):.0%} of the pairs"
    else:
        adjusted = mean_difference(values)
    return EqualLength(raw, adjusted, mean, slope, shorter, longer, reason)


def influence(scores: Floats, lengths: Floats) -> tuple[Floats, float]:
    """Values (seeds, articles) whose mean is the difference at equal length, and the slope; NaN without any slope.

    The mean is d - slope * l with d and l the mean differences; each value is the pair's own part of it, the error of
    the slope included, so that the test of the mean counts that error, too (a linearisation; Hampel 1974).
    """
    inner = lengths - lengths.mean(axis=1, keepdims=True)
    spread = float((inner**2).mean())
    if spread <= 1e-12:
        return np.full(scores.shape, np.nan), float("nan")
    own = scores - scores.mean(axis=1, keepdims=True)
    slope = float((inner * own).mean()) / spread
    error = own - slope * inner
    return scores - slope * lengths - lengths.mean() * inner * error / spread, slope
