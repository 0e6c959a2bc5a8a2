"""Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah 2024).

Over pairs of systems, one minus the mean difference between people's p-value and the metric's p-value that the first
system is better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from rlsum.evaluation.coefficients.statistic import Engine, Level, Statistic, in_blocks
from rlsum.evaluation.rows import Floats, Ids, Rows, judged_rows

PERMUTATIONS = 1000  # per p-value, as in the paper


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


def _engine(rows: Rows) -> Engine:
    people, scores, present = differences(rows)
    return in_blocks(lambda weights: soft_accuracy_limit(people, scores, present, weights), rows.systems**2)


def _exact(rows: Rows, level: Level) -> tuple[float, float]:
    return soft_pairwise_accuracy(rows.human, rows.metric, rows.unit, rows.system), float("nan")


SPA = Statistic(
    "spa",
    engines={"system": _engine},
    exact=_exact,
    levels=("system",),
    span=(0.0, 1.0),
    undefined="no two systems share an input",
)
