"""Agreement of a metric's ranking with people's: pairwise accuracy with tie calibration, and soft pairwise accuracy.

`acc-t` (Deutsch, Foster and Freitag 2023, "Ties Matter", called acc23 in WMT): a pair of rows is correct if metric and
people agree that the first is better, worse, or equal. Continuous metrics never tie, so the metric calls a tie if its
two scores differ by at most epsilon, and epsilon maximises the accuracy.

SPA (Thompson, Mathur, Deutsch and Khayrallah 2024): over pairs of systems, one minus the mean difference between
people's p-value and the metric's p-value that the first system is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from rlsum.evaluation.rows import Floats, Ids, Ints, Rows, judged_rows

PERMUTATIONS = 1000  # per p-value of SPA, as in the paper
MOST_PAIRS = 5_000_000  # above this many pairs a seeded sample is taken, which is exact to within .001
ROUNDING = 1e-9  # shares of pairs this close are equal, so that the order of a sum does not change epsilon


class TieCalibration(NamedTuple):
    """The accuracy in [0, 1], its epsilon, and the numbers of pairs and inputs; NaN without pairs."""

    accuracy: float
    epsilon: float
    pairs: int
    inputs: int


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows in the order of ``gap`` (p,), the metric's absolute difference.

    ``right`` (p,): 1 where metric and people order the pair alike and people do not tie it; ``tied`` (p,): 1 where
    people tie it. ``first`` and ``second`` (p,) are the units of the two rows. ``share`` (p,): 1 over the number of
    pairs of the same input, or None for pairs over all rows.
    """

    gap: Floats
    right: Floats
    tied: Floats
    first: Ints
    second: Ints
    share: Floats | None

    def __len__(self) -> int:
        return len(self.gap)

    def weights(self, weights: Floats) -> Floats:
        """The weight of every pair (b, p) under ``weights`` (b, units) of the units."""
        return weights[:, self.first] * (weights[:, self.second] if self.share is None else self.share)


def tie_calibrated_accuracy(human: ArrayLike, metric: ArrayLike, inputs: Ids | None = None) -> TieCalibration:
    """Pairwise accuracy with tie calibration of ``metric`` (n,) against ``human`` (n,), both higher = better.

    Pairs are formed within each of ``inputs`` (n,); without inputs, over all rows. The mean over inputs of the share of
    right pairs is maximised over epsilon >= 0, the smallest of several maxima. The value is slightly optimistic,
    because epsilon is fitted to the same data. NaN if no input has two rows. Raises ValueError as `judged_rows` does.
    """
    rows = judged_rows(human, metric, inputs)
    pairs = pairs_of(rows, MOST_PAIRS) if inputs is None else pairs_within(rows)
    if not len(pairs):
        return TieCalibration(np.nan, np.nan, 0, 0)
    accuracy, epsilon = calibrated(pairs, np.ones((1, rows.units)))
    groups = 1 if inputs is None else len(np.unique(pairs.first))
    return TieCalibration(float(accuracy[0]), float(epsilon[0]), len(pairs), groups)


def pairs_within(rows: Rows) -> RowPairs:
    """All pairs of rows of one unit."""
    order = np.argsort(rows.unit, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(rows.unit[order])) + 1)
    upper = {size: np.triu_indices(size, 1) for size in {len(member) for member in members}}
    first = np.concatenate([member[upper[len(member)][0]] for member in members])
    second = np.concatenate([member[upper[len(member)][1]] for member in members])
    counts = np.bincount(rows.unit[first], minlength=rows.units)
    return _sorted_pairs(rows, first, second, 1 / counts[rows.unit[first]])


def pairs_of(rows: Rows, limit: int, seed: int = 0) -> RowPairs:
    """All pairs of rows, or a seeded sample of ``limit`` pairs (with replacement) if there are more."""
    size = len(rows)
    if size * (size - 1) // 2 <= limit:
        return _sorted_pairs(rows, *np.triu_indices(size, 1), None)
    generator = np.random.default_rng(seed)
    first = generator.integers(0, size, limit)
    second = (first + generator.integers(1, size, limit)) % size
    return _sorted_pairs(rows, first, second, None)


def calibrated(pairs: RowPairs, weights: Floats) -> tuple[Floats, Floats]:
    """Greatest accuracy and its epsilon, both (b,), under ``weights`` (b, units) of the units."""
    weight = pairs.weights(weights)
    return _best(pairs.gap[None], weight * pairs.right, weight * pairs.tied, weight.sum(1))


def accuracy_rows(human: Floats, metric: Floats) -> Floats:
    """Tie-calibrated accuracy of each row of ``metric`` (b, s) against ``human`` (b, s), over its pairs; (b,)."""
    first, second = np.triu_indices(human.shape[1], 1)
    people, scores = human[:, first] - human[:, second], metric[:, first] - metric[:, second]
    order = np.argsort(np.abs(scores), axis=1, kind="stable")
    people, scores = np.take_along_axis(people, order, 1), np.take_along_axis(scores, order, 1)
    right = (people * scores > 0).astype(np.float64)
    undefined = np.isnan(people + scores).any(1)
    accuracy, _ = _best(np.abs(scores), right, (people == 0).astype(np.float64), np.full(len(human), len(first)))
    return np.where(undefined, np.nan, accuracy)


def _sorted_pairs(rows: Rows, first: Ints, second: Ints, share: Floats | None) -> RowPairs:
    people, scores = rows.human[first] - rows.human[second], rows.metric[first] - rows.metric[second]
    order = np.argsort(np.abs(scores), kind="stable")
    people, scores, first, second = people[order], scores[order], first[order], second[order]
    right, tied = (people * scores > 0).astype(np.float64), (people == 0).astype(np.float64)
    share = None if share is None else share[order]
    return RowPairs(np.abs(scores), right, tied, rows.unit[first], rows.unit[second], share)


def _best(gap: Floats, right: Floats, tied: Floats, total: Floats) -> tuple[Floats, Floats]:
    """The greatest share of right pairs over thresholds on ``gap`` (1 or b, p), ascending, and its epsilon.

    ``right`` and ``tied`` (b, p) are weights of the pairs that are right if the metric orders them or calls them ties.
    """
    if not gap.shape[1]:
        return np.full(len(total), np.nan), np.full(len(total), np.nan)
    gained = np.cumsum(tied - right, axis=1)  # if all pairs up to this one are called ties
    last = np.diff(gap, axis=1, append=np.inf) > 0  # equal gaps become ties together
    gained = np.where(last, gained, -np.inf)
    start = np.where(gap[:, :1] > 0, 0.0, -np.inf)  # epsilon 0 ties pairs with a gap of 0 only
    gained = np.concatenate([np.broadcast_to(start, (len(gained), 1)), gained], axis=1)
    best = np.argmax(gained >= gained.max(1, keepdims=True) - ROUNDING * total[:, None], axis=1)
    epsilons = np.broadcast_to(np.concatenate([np.zeros((len(gap), 1)), gap], axis=1), gained.shape)
    chosen = np.arange(len(gained)), best
    with np.errstate(invalid="ignore", divide="ignore"):
        return (right.sum(1) + gained[chosen]) / total, epsilons[chosen]


def soft_pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, inputs: Ids, systems: Ids, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> float:
    """SPA of ``metric`` (n,) against ``human`` (n,) over systems, in [0, 1]: ``1 - mean |p_human - p_metric|``.

    Each p is one-sided, from the paired permutation test that the first of two systems is better on their common
    inputs. Permutations with exactly the observed difference count half, and the observed one is included, so swapping
    the systems gives 1 - p. People and metric use the same permutations, as in the authors' code. Several rows of one
    system and input are averaged. NaN if no two systems share an input. Raises ValueError as `judged_rows` does.
    """
    rows = judged_rows(human, metric, inputs, systems)
    people, scores, present = differences(rows)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(permutations, rows.units))
    distance = np.abs(_permutation_p(people, signs) - _permutation_p(scores, signs))
    shared = present.any(0)
    return float(1 - distance[shared].mean()) if shared.any() else float("nan")


def differences(rows: Rows) -> tuple[Floats, Floats, Floats]:
    """Human and metric differences (units, pairs) of systems, 0 where one has no row; and 1 where both have one."""
    shape = (rows.units, rows.systems)
    cell = rows.unit * rows.systems + rows.system
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    first, second = np.triu_indices(rows.systems, 1)
    present = (counts > 0).reshape(shape)
    both = present[:, first] & present[:, second]

    def difference(scores: Floats) -> Floats:
        means = (np.bincount(cell, weights=scores, minlength=len(counts)) / np.maximum(counts, 1)).reshape(shape)
        return np.where(both, means[:, first] - means[:, second], 0.0)

    return difference(rows.human), difference(rows.metric), both.astype(np.float64)


def soft_accuracy_limit(people: Floats, scores: Floats, present: Floats, weights: Floats) -> Floats:
    """SPA (b,) under ``weights`` (b, units), from `differences`; affordable for thousands of resamples.

    Permutations are replaced by their limit for many inputs: a normal sum with the summed squared differences as
    variance.
    """
    distance = np.abs(_limit_p(people, weights) - _limit_p(scores, weights))
    shared = (weights @ present) > 0
    with np.errstate(invalid="ignore"):
        return 1 - np.where(shared, distance, 0.0).sum(1) / shared.sum(1)


def _permutation_p(difference: Floats, signs: Floats) -> Floats:
    """One-sided p (pairs,) of ``difference`` (units, pairs) under sign flips ``signs`` (r, units)."""
    observed, flipped = difference.sum(0), signs @ difference
    near = 1e-9 * np.abs(difference).sum(0)
    above, equal = (flipped > observed + near).sum(0), (np.abs(flipped - observed) <= near).sum(0)
    return (above + (equal + 1) / 2) / (len(signs) + 1)


def _limit_p(difference: Floats, weights: Floats) -> Floats:
    spread = np.sqrt(weights @ difference**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return ndtr(-np.where(spread > 0, (weights @ difference) / spread, 0.0))
