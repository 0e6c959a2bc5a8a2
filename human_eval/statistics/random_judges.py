"""Would judges like these prefer a system, too? The preference with items and judges both as random samples.

The sign-flip test of `preference` asks about the judges of the study: it takes their preferences as given. Judges have
preferences of their own, though, and other judges would have others. Here a vote is ``mu + item + judge + rest``, and
the standard error of the mean contains all three parts. This is the analysis of reader studies in radiology
(Obuchowski and Rockette 1995), extended to designs in which a judge sees some items. Degrees of freedom: the geometric
mean of Hillis' (2007), with which few judges reject up to 8% at 5%, and those of the judges alone, with which they
reject as little as 1%. Judges with unequal loads have as many as the number of judges with equal loads who are worth as
much; Satterthwaite's would be fewer and reject 2 to 3%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from scipy.stats import t

from human_eval.formatting import counted
from human_eval.statistics.preference import unanimous
from human_eval.votes.votes import Floats
from rlsum.evaluation.rows import Ids, Ints, numbered
from rlsum.evaluation.statistics import LEVEL

# Fewer judges share a taste by chance too often: where there are two camps, five judges are of the same one in 6.3% of
# studies. With fewer items the test rejects too often (docs/results/calibration.md#the-card-of-a-study).
FEWEST_JUDGES, FEWEST_ITEMS = 6, 20
EQUAL = 1e-24  # a variance that is rounding alone
NEARLY = 0.6  # mean vote in [-1, 1]: four of five votes agree


@dataclass(frozen=True)
class RandomJudges:
    """The share of the second system among judges like these, with its interval ``low`` to ``high`` and test ``p``.

    ``judges``: their number; ``effective``: the number of judges with equal numbers of votes who would be worth as
    much; ``spread``: the standard deviation of the judges' own shares beyond chance, 0 if they differ no more than by
    chance; ``df``: degrees of freedom of Student's t. NaN if undefined; ``reason`` says why.
    """

    share: float
    low: float
    high: float
    p: float
    judges: int
    effective: float
    spread: float
    df: float
    reason: str = ""


class Estimates(NamedTuple):
    """Of b studies: mean vote, its variance, the degrees of freedom, and the variance of judges (b,)."""

    mean: Floats
    variance: Floats
    df: Floats
    judge_variance: Floats


class Layout:
    """Which judge voted on which item, and what follows for the variances of a mean.

    ``item`` and ``judge`` (cells,) number the votes; ``weight`` (cells,) is the weight of each vote in the mean, with
    sum 1. By default items have equal weights, and the votes on an item, too.
    """

    def __init__(self, item: Ints, judge: Ints, weight: Floats | None = None) -> None:
        votes = np.bincount(item)
        self.items, self.judges = len(votes), int(judge.max()) + 1
        self.weight = 1 / (self.items * votes[item]) if weight is None else weight
        self._by_judge, self._by_item = _sums(judge, self.judges), _sums(item, self.items)
        self._pairs = int((votes * (votes - 1)).sum())
        loads = self._by_judge @ self.weight  # of the judges, with sum 1
        squares = self._by_judge @ self.weight**2
        self._squares, self._loads = float(squares.sum()), float((loads**2).sum())
        self.effective = 1 / self._loads
        self.judge_df = self.effective - 1
        # Expectation of the judges' sum of squares, per unit of each variance; loads is its target for judges.
        self._of_judges = float((loads**2 * (1 - 2 * loads + self._loads)).sum())
        self._of_items = self._squares - self._loads / self.items
        self._of_rest = self._squares - 2 * float((squares * loads).sum()) + self._loads * self._squares

    def estimates(self, values: Floats) -> Estimates:
        """Mean and variance of ``values`` (b, cells), with at least two judges."""
        mean = values @ self.weight
        rest = values - mean[:, None]
        judges = ((self._by_judge @ (rest * self.weight).T) ** 2).sum(0)
        item_variance = np.zeros(len(values))
        if self._pairs:  # the products of different judges' votes on an item
            item_variance = (((self._by_item @ rest.T) ** 2).sum(0) - (rest**2).sum(1)) / self._pairs
        rest_variance = np.maximum(rest**2 @ self.weight - item_variance, 0.0)
        scale = self._loads / self._of_judges
        by_judges = scale * judges
        # Unequal loads make by_judges too large, most of all if judges do not differ: the most that is taken from it.
        least = min(0.0, self._squares / (scale * self._of_rest) - 1) * by_judges
        by_items = np.maximum(
            (1 / self.items - scale * self._of_items) * item_variance
            + (self._squares - scale * self._of_rest) * rest_variance,
            least,
        )
        variance = by_judges + by_items
        spread_out = by_judges**2 / self.judge_df + by_items**2 / max(1, self.items - 1)
        df = np.divide(variance**2, spread_out, out=np.full(len(values), np.inf), where=spread_out > 0)
        df = np.sqrt(df * self.judge_df)
        above = judges - self._of_items * item_variance - self._of_rest * rest_variance
        apart = self._of_judges - self._of_rest  # 0 if judges cannot be told from the rest: every judge has one vote
        judge_variance = np.maximum(above / apart, 0.0) if apart > 1e-12 else np.full(len(values), np.nan)
        return Estimates(mean, variance, df, judge_variance)

    def p_values(self, values: Floats) -> Floats:
        """P-values (b,) of the test that the mean of ``values`` (b, cells) is 0."""
        estimates = self.estimates(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.abs(estimates.mean) / np.sqrt(estimates.variance)
        return np.asarray(2 * t.sf(np.nan_to_num(statistic, nan=0.0), estimates.df))

    def interval(self, values: Floats, extra: float = 0.0, level: float = LEVEL) -> tuple[float, float, float, float]:
        """Ends, p and df of Student's t for the mean of ``values`` (cells,), with ``extra`` variance.

        NaN ends and p where all values are equal, up to rounding: nothing tells their spread.
        """
        mean, variance, df, _ = (float(estimate[0]) for estimate in self.estimates(values[None]))
        if variance + extra < EQUAL:
            return np.nan, np.nan, np.nan, df
        deviation = (variance + extra) ** 0.5
        half = float(t.isf((1 - level) / 2, df)) * deviation
        return mean - half, mean + half, float(2 * t.sf(abs(mean) / deviation, df)), df

    @property
    def refused(self) -> str:
        """Why no test of judges like these holds its level; "" if it does."""
        if round(self.effective) >= FEWEST_JUDGES:
            few = f"{counted(self.items, 'item')}: no test holds its level with fewer than {FEWEST_ITEMS}"
            return few if self.items < FEWEST_ITEMS else ""
        who = counted(self.judges, "judge")
        if self.judges >= FEWEST_JUDGES:
            who += f", worth {self.effective:.1f} with equal loads"
        return f"{who}: no test holds its level with fewer than {FEWEST_JUDGES}, who may share a taste by chance"


def to_claim(items: int, tasks: int, judges: int) -> str:
    """What a claim about people in general needs, for a study of ``tasks`` on ``items``, each for ``judges``."""
    needed = f"a claim about people in general needs {FEWEST_JUDGES} judges and {FEWEST_ITEMS} articles"
    if items < FEWEST_ITEMS:
        return needed
    return f"{needed}; give --booklet {max(1, tasks // -(-FEWEST_JUDGES // judges))}, so that more people judge"


def random_judges(votes: ArrayLike, *, items: Ids | None = None, same: int = 0, level: float = LEVEL) -> RandomJudges:
    """The preference of judges like those of ``votes`` (comparisons, judges) of -1, 0 and 1, NaN = not judged.

    ``items`` and ``same`` as in `preference`: the share is the same, with no difference as half a vote. If all votes
    are equal, no spread can be estimated: p is then that with one vote for neither, since judges of whom one dissents
    cannot be more certain, and the interval that of the sign test over judges or items, whichever are fewer.
    """
    votes = np.asarray(votes, dtype=np.float64)
    nan = float("nan")
    if np.isnan(votes).all():
        return RandomJudges(nan, nan, nan, nan, 0, 0.0, nan, nan, "no votes")
    layout, values = _cells(votes, items)
    estimates = layout.estimates(values[None]) if layout.judges > 1 else None
    kept = layout.items / (layout.items + same)  # the share of items whose texts differ
    mean = float(values @ layout.weight)
    equal = mean**2 * (1 - kept) / (kept * (layout.items + same))  # variance of the share of equal texts
    share, counts = (1 + kept * mean) / 2, (layout.judges, layout.effective)
    spread = nan if estimates is None else float(np.sqrt(estimates.judge_variance[0])) / 2
    if layout.refused or estimates is None:
        return RandomJudges(share, nan, nan, nan, *counts, spread, nan, layout.refused)
    if estimates.variance[0] < EQUAL:
        fewer = min(layout.items, layout.judges)
        low, high = unanimous(mean, fewer, (1 - level) / 2)
        doubted = np.where(np.arange(len(values)) == 0, 0.0, values)
        df, p = nan, float(layout.p_values(doubted[None])[0]) if mean else 1.0
    else:
        low, high, p, df = layout.interval(values, equal, level)
        low, high = _towards_unanimous(low, high, mean, min(layout.items, layout.judges), (1 - level) / 2)
    low, high = ((1 + kept * float(np.clip(end, -1, 1))) / 2 for end in (low, high))
    return RandomJudges(share, low, high, p, *counts, spread, df)


def _towards_unanimous(low: float, high: float, mean: float, n: int, tail: float) -> tuple[float, float]:
    """The ends with those of `unanimous`, the more of them the more votes agree, from `NEARLY` on.

    Where nearly all votes agree, the spread of judges cannot be seen, and one who dissents would make an interval of
    Student's t much narrower than that of votes without dissent.
    """
    share = min(1.0, max(0.0, 2 * (abs(mean) - NEARLY) / (1 - NEARLY)))
    ends = unanimous(mean, n, tail)
    return min(low, share * ends[0] + (1 - share) * low), max(high, share * ends[1] + (1 - share) * high)


def _cells(votes: Floats, items: Ids | None) -> tuple[Layout, Floats]:
    """One cell for each judge and item, with the mean of that judge's votes on the item, and its weight."""
    unit, _ = numbered("items", items, len(votes))
    row, judge = np.nonzero(~np.isnan(votes))
    _, judge = np.unique(judge, return_inverse=True)  # judges without votes do not count
    _, item = np.unique(unit[row], return_inverse=True)
    cells, cell = np.unique(np.stack([item, judge]), axis=1, return_inverse=True)
    counts = np.bincount(cell.ravel())
    values = np.bincount(cell.ravel(), votes[~np.isnan(votes)]) / counts
    total = np.bincount(cells[0], counts)
    return Layout(cells[0], cells[1], counts / (len(total) * total[cells[0]])), values


def _sums(group: Ints, groups: int) -> csr_matrix:
    """The matrix that sums cells by group (groups, cells)."""
    return csr_matrix((np.ones(len(group)), (group, np.arange(len(group)))), shape=(groups, len(group)))
