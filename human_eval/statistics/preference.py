"""Which of two systems do people prefer? Estimate, interval and test, with the item as the unit, not the vote.

Votes on the same item are correlated, so a test on pooled votes rejects equality too often. Here every item counts
once, as the mean preference of its judges, from -1 (all for the first system) to 1 (all for the second). A mean m is
reported as the share (1 + m) / 2 of the second system. The test flips signs. The interval is that of `bounded`, which a
judge who dissents cannot make narrower; it contains one half if and only if the test does not reject at its level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from human_eval.votes.votes import Floats
from rlsum.evaluation import statistics
from rlsum.evaluation.rows import Ids, numbered
from rlsum.evaluation.statistics import USUAL, Uncertainty

Ties = Literal["half", "dropped"]

BEYOND = 1e-9  # by which an interval passes one half that the test does not exclude


@dataclass(frozen=True)
class Preference:
    """The share of the second system in [0, 1], .5 = no preference, with its interval ``low`` to ``high``.

    ``p``: the two-sided sign-flip test. ``items``: number of units. ``first``, ``tied``, ``second``: numbers of votes.
    ``naive_p``: the binomial test on pooled untied votes as if they were independent, for comparison only. NaN if
    undefined; ``reason`` says why.
    """

    share: float
    low: float
    high: float
    p: float
    items: int
    first: int
    tied: int
    second: int
    naive_p: float
    reason: str = ""


def preference(
    votes: ArrayLike, *, items: Ids | None = None, same: int = 0, ties: Ties = "half", how: Uncertainty = USUAL
) -> Preference:
    """The preference in ``votes`` (comparisons, judges) in [-1, 1], 0 = no difference, NaN = not judged.

    ``items`` (comparisons,): the item of each row; default: every row is an item. ``same``: number of further items
    with equal texts, which count as ties. ``ties="dropped"`` drops votes for neither and these items.
    ``low`` and ``high`` are the interval `bounded`, made to agree with ``p`` where the two differ.
    Raises ValueError for values beyond -1 and 1.
    """
    votes = _votes(votes)
    present = votes[~np.isnan(votes)]
    first, tied, second = (int((np.sign(present) == side).sum()) for side in (-1, 0, 1))
    half = ties == "half"
    means = item_means(votes if half else np.where(votes == 0, np.nan, votes), items, same if half else 0)
    naive = min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5))) if first + second else float("nan")
    if not len(means):
        nan = float("nan")
        reason = "no votes" if not len(present) else "every vote is a tie"
        return Preference(nan, nan, nan, nan, 0, first, tied, second, naive, reason)
    p, _, _ = statistics.sign_flips(means, how)
    share = float((1 + means.mean()) / 2)
    low, high = ((1 + end) / 2 for end in bounded(means, how))
    low, high = agreeing(low, high, share, p <= 1 - how.level + 1e-12)
    return Preference(share, low, high, p, len(means), first, tied, second, naive)


def agreeing(low: float, high: float, share: float, detected: bool) -> tuple[float, float]:
    """The interval ``low`` to ``high`` of a ``share``, on one side of one half if and only if a test detects that."""
    if detected:
        return (max(low, 0.5), high) if share > 0.5 else (low, min(high, 0.5))
    return min(low, 0.5 - BEYOND), max(high, 0.5 + BEYOND)


def bounded(means: Floats, how: Uncertainty = USUAL) -> tuple[float, float]:
    """Ends of the interval of the mean of values (n,) that lie in [-1, 1], of which few may be seen (Gaffke 2005).

    Each end is the quantile of the mean of the values and one more at that end of the range, under random weights that
    are uniform on the simplex. Where all values are -1 or 1 this is the interval of Clopper and Pearson (1934). A value
    that moves towards an end moves both ends there, so that the interval of 1 of 24 votes is never below that of none.
    """
    weights, tail = _weights(len(means), how.resamples, how.seed), (1 - how.level) / 2
    drawn = weights[:, :-1] @ means
    low, high = np.quantile(drawn - weights[:, -1], tail), np.quantile(drawn + weights[:, -1], 1 - tail)
    return max(-1.0, float(low)), min(1.0, float(high))


@lru_cache(8)  # large, and the same for all criteria and pairs of a study
def _weights(n: int, resamples: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).standard_exponential((resamples, n + 1))
    return np.asarray(drawn / drawn.sum(1, keepdims=True))


def least_p(items: int, tests: int) -> float:
    """The smallest p of so many items after Holm's correction over so many tests: all of them say the same."""
    return min(1.0, tests * 2.0 ** (1 - items))


def unanimous(value: float, n: int, tail: float) -> tuple[float, float]:
    """Ends of the interval of a mean if n units all have ``value``, in [-1, 1]; each end errs with ``tail``.

    For a value of 1 or -1 the interval of Clopper and Pearson (1934), for others in proportion. It excludes 0 if and
    only if the sign test of n units does.
    """
    kept = tail ** (1 / n)
    towards, away = abs(value) * (2 * kept - 1), abs(value) * kept + (1 - kept)
    if value == 0:
        towards = kept - 1
    return (towards, away) if value >= 0 else (-away, -towards)


def item_means(votes: Floats, items: Ids | None = None, same: int = 0) -> Floats:
    """The mean vote on each item (n,), sorted by item name, without items that have no votes; then ``same`` zeros."""
    if not votes.size:
        return np.zeros(same)
    unit, units = numbered("items", items, len(votes))
    present = ~np.isnan(votes)
    counts = np.bincount(unit, present.sum(1), units)
    sums = np.bincount(unit, np.where(present, votes, 0.0).sum(1), units)
    return np.concatenate([sums[counts > 0] / counts[counts > 0], np.zeros(same)])


def _votes(votes: ArrayLike) -> Floats:
    matrix = np.asarray(votes, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"votes has shape {matrix.shape}; expected (comparisons, judges)")
    invalid = matrix[np.abs(matrix) > 1]
    if len(invalid):
        raise ValueError(f"votes contains {invalid[0]:g}; use -1 (first) to 1 (second), 0 (tie) or NaN (not judged)")
    return matrix
