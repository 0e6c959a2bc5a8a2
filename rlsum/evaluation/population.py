"""New inputs, new systems or both: intervals and tests for the population that a number speaks of.

A correlation of the systems at hand says nothing about systems to come: those are another sample (Deutsch, Dror and
Roth 2021). With systems random, their number limits what is known, whatever the number of texts. The methods here are
those that hold their level in `scripts/calibration/population_tests.py`; where none does, there is a reason instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from rlsum.evaluation.coefficients import COEFFICIENTS
from rlsum.evaluation.rows import Floats, Ints, Rows
from rlsum.evaluation.weighted import Level, Statistic, by_unit, engine

Random = Literal["inputs", "systems", "both"]
FEWEST = 8  # systems for an interval or a test over systems at level system
FEWEST_KENDALL = 12  # and for Kendall's tau there, which takes few values
FEWEST_TEXTS = 20  # and at the levels that compare texts
FEWEST_INPUTS = 30  # inputs for an interval or a test over systems and inputs at these levels
GROUPS = 20  # into which inputs are divided to be left out
MOST = 30  # systems that are left out one by one; more are left out in this many groups

MEANING: dict[Random, str] = {
    "inputs": "new inputs, summarized by these systems",
    "systems": "new systems on these inputs",
    "both": "new systems on new inputs, as many as here",
}
SPREAD: dict[str, Callable[[Floats, int], Floats]] = {  # of the coefficient's Fisher z over n independent systems
    "pearson": lambda r, n: 1 / np.sqrt(n - 3 + 0 * r),
    "spearman": lambda r, n: np.sqrt((1 + r**2 / 2) / (n - 3)),  # Bonett and Wright 2000
    "kendall": lambda r, n: np.sqrt(0.437 / (n - 4) + 0 * r),  # Fieller, Hartley and Pearson 1957
}


def chosen_random(statistic: Statistic, level: Level, inputs: Sequence[Any], systems: Sequence[Any]) -> Random:
    """What is random unless the user says: both where systems share inputs and are enough for an interval."""
    count = len(set(systems))
    crossed = count < len(systems) > len(set(inputs))
    return "both" if crossed and not why_not(statistic, level, count, len(set(inputs))) else "inputs"


def check_random(random: str) -> None:
    """Raise ValueError for an unknown name."""
    if random not in get_args(Random):
        raise ValueError(f"random={random!r} is unknown; use one of {', '.join(get_args(Random))}")


def why_not(statistic: Statistic, level: Level, systems: int, inputs: int) -> str:
    """Why no interval or test over systems is given of so many systems and inputs; "" if one is."""
    if statistic not in COEFFICIENTS:
        return f"no method for {statistic} over new systems is known to hold its level; use random=inputs"
    fewest = FEWEST_TEXTS if level != "system" else FEWEST_KENDALL if statistic == "kendall" else FEWEST
    if systems < fewest:
        return f"{systems} systems; fewer than {fewest} say too little about new ones; use random=inputs"
    if level != "system" and inputs < FEWEST_INPUTS:
        return f"{inputs} inputs; with fewer than {FEWEST_INPUTS} no method holds its level; use random=inputs"
    return ""


def fisher(values: Floats, n: int, statistic: str, confidence: float) -> tuple[Floats, Floats]:
    """Ends of the interval of coefficients (...) of ``n`` independent systems, by Fisher's z."""
    z = np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))
    wide = norm.ppf((1 + confidence) / 2) * SPREAD[statistic](values, n)
    return np.tanh(z - wide), np.tanh(z + wide)


def system_means(rows: Rows) -> Rows:
    """One row for each system with a text: the means of its scores."""
    _, system, counts = np.unique(rows.system, return_inverse=True, return_counts=True)
    human, metric = (np.bincount(system, weights=column) / counts for column in (rows.human, rows.metric))
    each = np.arange(len(counts))
    return Rows(human, metric, each, len(each), each, len(each), len(each))


@dataclass(frozen=True)
class Deletions:
    """The statistic of all rows, without each system (s,), each group of inputs (g,), and each cell of both (s g,).

    ``systems``: the number s; groups of systems where there are very many.
    """

    value: Floats
    by_system: Floats
    by_inputs: Floats
    by_cell: Floats

    @property
    def systems(self) -> int:
        """The number of systems, or groups of them, that were left out."""
        return len(self.by_system)

    def __sub__(self, other: Deletions) -> Deletions:
        return Deletions(*(getattr(self, name) - getattr(other, name) for name in self.__dataclass_fields__))

    def variance(self, random: Random) -> float:
        """Jackknife variance of the statistic where systems, inputs or both are random; NaN if undefined.

        Both: the variance over systems plus that over inputs, less that of their cells, which the two count twice
        (Cameron, Gelbach and Miller 2011), and never below either.
        """
        systems, inputs, cells = (_variance(values) for values in (self.by_system, self.by_inputs, self.by_cell))
        if random == "both":
            return max(systems + inputs - cells, systems, inputs)
        return systems if random == "systems" else inputs


def deletions(rows: Rows, statistic: Statistic, level: Level) -> Deletions:
    """A pooled or input-level coefficient of all rows, and of rows without systems, inputs, and cells of both."""
    system, systems = _groups(rows.system, MOST)
    group, groups = _groups(rows.unit, GROUPS)
    if level == "input":
        return _within_inputs(rows, statistic, system, systems, groups)
    cell = system * groups + group
    left = np.ones((1 + systems + groups + systems * groups, systems * groups))
    grid = left[1:].reshape(-1, systems, groups)
    grid[np.arange(systems), np.arange(systems)] = 0
    grid[systems + np.arange(groups), :, np.arange(groups)] = 0
    left[1 + systems + groups :][np.diag_indices(systems * groups)] = 0
    values = engine(replace(rows, unit=cell, units=systems * groups), statistic, "pooled")(left)
    return Deletions(*np.split(values, [1, 1 + systems, 1 + systems + groups]))


class Interval(NamedTuple):
    """Low and high end; NaN with a ``reason``."""

    low: float
    high: float
    reason: str = ""


def population_interval(rows: Rows, statistic: Statistic, level: Level, random: Random, confidence: float) -> Interval:
    """The interval of a coefficient over new systems, on these inputs or on new ones."""
    nan = float("nan")
    if reason := why_not(statistic, level, len(np.unique(rows.system)), len(np.unique(rows.unit))):
        return Interval(nan, nan, f"no interval: {reason}")
    if level == "system":
        means = system_means(rows)
        value = COEFFICIENTS[statistic](means.human, means.metric)
        low, high = fisher(value, len(means), statistic, confidence)
        return Interval(float(low), float(high))
    left = deletions(rows, statistic, level)
    larger = left.systems / (left.systems - 1)  # few clusters, as for clustered standard errors
    width = student.ppf((1 + confidence) / 2, left.systems - 1) * np.sqrt(larger * left.variance(random))
    if np.isnan(width):
        return Interval(nan, nan, "no interval: undefined without one of the systems or inputs")
    estimate = float(left.value[0])
    return Interval(max(estimate - width, -1.0), min(estimate + width, 1.0))


def jackknife_p(first: Rows, second: Rows, statistic: Statistic, level: Level, random: Random) -> tuple[float, ...]:
    """The difference of two metrics on the same rows, and its two-tailed and one-tailed p by a jackknife t test."""
    left = deletions(first, statistic, level) - deletions(second, statistic, level)
    difference, spread = float(left.value[0]), float(np.sqrt(left.variance(random)))
    if np.isnan(spread):
        return difference, np.nan, np.nan
    t = difference / spread if spread else np.sign(difference) * np.inf if difference else 0.0
    df = left.systems - 1
    return difference, float(2 * student.sf(abs(t), df)), float(student.sf(t, df))


def _within_inputs(rows: Rows, statistic: Statistic, system: Ints, systems: int, groups: int) -> Deletions:
    coefficient = COEFFICIENTS[statistic]
    whole = by_unit(rows, coefficient)
    without = np.stack([by_unit(rows.where(system != one), coefficient) for one in range(systems)])
    taken = np.unique(rows.unit)
    group = np.full(rows.units, -1)
    group[taken] = np.arange(len(taken)) % groups
    is_in = group == np.arange(groups)[:, None]
    cells = np.where(is_in, without[:, None, :], whole)
    inputs = np.where(is_in, np.nan, whole)
    return Deletions(*(_means(values) for values in (whole[None], without, inputs, cells.reshape(-1, rows.units))))


def _means(values: Floats) -> Floats:
    """Means (b,) over the inputs of ``values`` (b, units) that are defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(defined, values, 0).sum(1) / defined.sum(1)


def _groups(numbers: Ints, most: int) -> tuple[Ints, int]:
    """The group (n,) of each number, of at most ``most`` groups, and how many there are."""
    present, ordinal = np.unique(numbers, return_inverse=True)
    groups = min(len(present), most)
    return ordinal % groups, groups


def _variance(values: Floats) -> float:
    """Jackknife variance from the values (k,) with one part of k left out."""
    return float((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())
