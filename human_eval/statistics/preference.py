"""Which of two systems do people prefer? Estimate, interval and test, with the item as the unit, not the vote.

Votes on the same item are correlated, so a test on pooled votes rejects equality too often. Here every item counts
once, as the mean preference of its judges, from -1 (all for the first system) to 1 (all for the second). A mean m is
reported as the share (1 + m) / 2 of the second system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, norm, t

from human_eval.statistics.votes import Floats
from rlsum.evaluation.rows import Ids, numbered
from rlsum.evaluation.statistics import LEVEL, RESAMPLES, Interval, bootstrap_interval, paired_permutation

Ties = Literal["half", "dropped"]

FEWEST = 5  # items needed for a bootstrap interval


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

    def turned(self) -> Preference:
        """The preference for the first system."""
        share, low, high = 1 - self.share, 1 - self.high, 1 - self.low
        return replace(self, share=share, low=low, high=high, first=self.second, second=self.first)


def preference(
    votes: ArrayLike,
    *,
    items: Ids | None = None,
    same: int = 0,
    ties: Ties = "half",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Preference:
    """The preference in ``votes`` (comparisons, judges) of -1, 0 and 1, NaN = not judged.

    ``items`` (comparisons,): the item of each row; default: every row is an item. ``same``: number of further items
    with equal texts, which count as ties. ``ties="dropped"`` drops votes for neither and these items.
    The test flips signs of item means: all patterns if at most ``resamples``, else random ones.
    Raises ValueError for values other than -1, 0, 1 and NaN, and as `bootstrap_interval` does.
    """
    votes = _votes(votes)
    given = votes[~np.isnan(votes)]
    first, tied, second = (int((given == side).sum()) for side in (-1, 0, 1))
    means = item_means(votes if ties == "half" else np.where(votes == 0, np.nan, votes), items)
    if ties == "half":
        means = np.concatenate([means, np.zeros(same)])
    naive = float(binomtest(second, first + second).pvalue) if first + second else float("nan")
    if not len(means):
        nan = float("nan")
        reason = "no votes" if not len(given) else "every vote is a tie"
        return Preference(nan, nan, nan, nan, 0, first, tied, second, naive, reason)
    interval = item_interval(means, resamples=resamples, seed=seed)
    p = paired_permutation(means, np.zeros(len(means)), resamples=resamples, seed=seed)
    low, high = (1 + interval.low) / 2, (1 + interval.high) / 2
    reason = f"no interval: fewer than {FEWEST} items" if len(means) < FEWEST else ""
    return Preference((1 + interval.mean) / 2, low, high, p, len(means), first, tied, second, naive, reason)


def item_means(votes: Floats, items: Ids | None = None) -> Floats:
    """The mean vote on each item (n,), sorted by item name, without items that have no votes."""
    if not votes.size:
        return np.empty(0)
    unit, units = numbered("items", items, len(votes))
    given = ~np.isnan(votes)
    counts = np.bincount(unit, given.sum(1), units)
    sums = np.bincount(unit, np.where(given, votes, 0.0).sum(1), units)
    return sums[counts > 0] / counts[counts > 0]


def item_interval(means: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """95% bootstrap interval of the mean of ``means`` (n,) in [-1, 1] that keeps its level for few items.

    Percentiles are expanded by the ratio of Student's t to the normal quantile and by sqrt(n / (n - 1)), since plain
    percentiles are too narrow (Hesterberg 2015, section 3.3). If all means are equal, the bootstrap interval would have
    no width; its ends are then the means under which n equal items have probability 2.5%, with the other
    items at -1 or 1 (Clopper and Pearson 1934). NaN ends below five items.
    """
    n = len(means)
    if n < FEWEST:
        return Interval(float(means.mean()), float("nan"), float("nan"), n)
    tail = (1 - LEVEL) / 2
    if np.ptp(means) < 1e-12:
        kept = tail ** (1 / n)
        value = float(means[0])
        return Interval(value, value * kept - (1 - kept), value * kept + (1 - kept), n)
    wider = float(1 - 2 * norm.cdf(np.sqrt(n / (n - 1)) * t.ppf(tail, n - 1)))
    return bootstrap_interval(means, level=wider, resamples=resamples, seed=seed)


def _votes(votes: ArrayLike) -> Floats:
    matrix = np.asarray(votes, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"votes has shape {matrix.shape}; expected (comparisons, judges)")
    invalid = matrix[~(np.isnan(matrix) | np.isin(matrix, (-1, 0, 1)))]
    if len(invalid):
        raise ValueError(f"votes contains {invalid[0]:g}; use -1 (first), 0 (tie), 1 (second) or NaN (not judged)")
    return matrix
