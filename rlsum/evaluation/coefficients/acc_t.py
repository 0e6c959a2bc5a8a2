"""Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023, "Ties Matter"), called acc23 in WMT.

A pair of rows is correct if metric and people agree that the first is better, worse, or equal. Continuous metrics never
tie, so the metric calls a tie if its two scores differ by at most epsilon, and epsilon maximises the accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlsum.evaluation.coefficients.statistic import Engine, Level, Statistic, in_blocks
from rlsum.evaluation.rows import Floats, Ints, Rows

PAIRS = 100_000  # pairs of all rows that the bootstrap samples: exact to within .002
MOST_PAIRS = 5_000_000  # above this many pairs a seeded sample is taken, which is exact to within .001
ROUNDING = 1e-9  # shares of pairs this close are equal, so that the order of a sum does not change epsilon


@dataclass(frozen=True)
class _Pairs:
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


def _pairs_within(rows: Rows) -> _Pairs:
    """All pairs of rows of one unit."""
    order = np.argsort(rows.unit, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(rows.unit[order])) + 1)
    upper = {size: np.triu_indices(size, 1) for size in {len(member) for member in members}}
    first = np.concatenate([member[upper[len(member)][0]] for member in members])
    second = np.concatenate([member[upper[len(member)][1]] for member in members])
    counts = np.bincount(rows.unit[first], minlength=rows.units)
    return _sorted_pairs(rows, first, second, 1 / counts[rows.unit[first]])


def _pairs_of(rows: Rows, limit: int) -> _Pairs:
    """All pairs of rows, or a seeded sample of ``limit`` pairs (with replacement) if there are more."""
    size = len(rows)
    if size * (size - 1) // 2 <= limit:
        return _sorted_pairs(rows, *np.triu_indices(size, 1), None)
    generator = np.random.default_rng(0)
    first = generator.integers(0, size, limit)
    second = (first + generator.integers(1, size, limit)) % size
    return _sorted_pairs(rows, first, second, None)


def _calibrated(pairs: _Pairs, weights: Floats) -> tuple[Floats, Floats]:
    """Greatest accuracy and its epsilon, both (b,), under ``weights`` (b, units) of the units."""
    weight = pairs.weights(weights)
    return _best(pairs.gap[None], weight * pairs.right, weight * pairs.tied, weight.sum(1))


def _of_last_axis(human: Floats, metric: Floats) -> Floats:
    """Tie-calibrated accuracy (...) of ``metric`` (..., n) against ``human`` (..., n), each over its own pairs."""
    shape, first, second = human.shape[:-1], *np.triu_indices(human.shape[-1], 1)
    size = int(np.prod(shape)), len(first)  # of one system there is no pair
    people, scores = ((values[..., first] - values[..., second]).reshape(size) for values in (human, metric))
    order = np.argsort(np.abs(scores), axis=1, kind="stable")
    people, scores = np.take_along_axis(people, order, 1), np.take_along_axis(scores, order, 1)
    right = (people * scores > 0).astype(np.float64)
    undefined = np.isnan(people + scores).any(1)
    best, _ = _best(np.abs(scores), right, (people == 0).astype(np.float64), np.full(len(scores), len(first)))
    return np.where(undefined, np.nan, best).reshape(shape)


def _sorted_pairs(rows: Rows, first: Ints, second: Ints, share: Floats | None) -> _Pairs:
    people, scores = rows.human[first] - rows.human[second], rows.metric[first] - rows.metric[second]
    order = np.argsort(np.abs(scores), kind="stable")
    people, scores, first, second = people[order], scores[order], first[order], second[order]
    right, tied = (people * scores > 0).astype(np.float64), (people == 0).astype(np.float64)
    share = None if share is None else share[order]
    return _Pairs(np.abs(scores), right, tied, rows.unit[first], rows.unit[second], share)


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


def _engine(pairs: _Pairs) -> Engine:
    return in_blocks(lambda weights: _calibrated(pairs, weights)[0], len(pairs))


def _exact(rows: Rows, level: Level) -> tuple[float, float] | None:
    """The accuracy and its epsilon. It is slightly optimistic, because epsilon is fitted to the same data."""
    if level == "system":
        return None
    accuracy, epsilon = _calibrated(
        _pairs_of(rows, MOST_PAIRS) if level == "pooled" else _pairs_within(rows), np.ones((1, rows.units))
    )
    return float(accuracy[0]), float(epsilon[0])


ACC_T = Statistic(
    "acc-t",
    _of_last_axis,
    {"pooled": lambda rows: _engine(_pairs_of(rows, PAIRS)), "input": lambda rows: _engine(_pairs_within(rows))},
    exact=_exact,
    span=(0.0, 1.0),
    untested=("pooled",),
)
