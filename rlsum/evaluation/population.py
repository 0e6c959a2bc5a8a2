"""New inputs, new systems or both: intervals and tests for the population that a number speaks of.

A correlation of the systems at hand says nothing about systems to come: those are another sample (Deutsch, Dror and
Roth 2021). With systems random, their number limits what is known, whatever the number of texts. The methods here are
those that hold their level in `scripts/calibration/population_tests.py`; where none does, there is a reason instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from rlsum.evaluation.coefficients import COEFFICIENTS
from rlsum.evaluation.influence import row_influence
from rlsum.evaluation.rows import Floats, Rows
from rlsum.evaluation.weighted import Level, Statistic

Random = Literal["inputs", "systems", "both"]
MEANING: dict[Random, str] = {
    "inputs": "new inputs, summarized by these systems",
    "systems": "new systems on these inputs",
    "both": "new systems on new inputs, as many as here",
}


class Fewest(NamedTuple):
    """How many systems an interval and a test over new systems need, and how many inputs; 0: none is given."""

    interval: int
    test: int
    inputs: int = 1


# What is printed over new systems. What is not here holds its level nowhere, or was not simulated.
FEWEST: dict[tuple[str, str], Fewest] = {
    ("pearson", "system"): Fewest(8, 8),
    ("spearman", "system"): Fewest(16, 16),
    ("kendall", "system"): Fewest(12, 16),
    ("pearson", "pooled"): Fewest(24, 24, 100),
    ("spearman", "pooled"): Fewest(24, 0, 100),
    ("spearman", "input"): Fewest(24, 0, 100),
    ("kendall", "input"): Fewest(24, 0, 100),
}
FEW = 3  # the power that makes the variance over few clusters larger; chosen by simulation
FEWEST_GIVEN = 30  # inputs for an interval over new inputs of given systems


def chosen_random(statistic: Statistic, level: Level, inputs: Sequence[Any], systems: Sequence[Any]) -> Random:
    """What is random unless the user says: both where systems share inputs and are enough for an interval."""
    count = len(set(systems))
    crossed = count < len(systems) > len(set(inputs))
    return "both" if crossed and not why_not(statistic, level, count, len(set(inputs))) else "inputs"


def check_random(random: str) -> None:
    """Raise ValueError for an unknown name."""
    if random not in get_args(Random):
        raise ValueError(f"random={random!r} is unknown; use one of {', '.join(get_args(Random))}")


def why_not(
    statistic: Statistic, level: Level, systems: int, inputs: int, random: Random = "both", test: bool = False
) -> str:
    """Why no interval or test over systems is given of so many systems and inputs; "" if one is."""
    fewest = FEWEST.get((statistic, level), Fewest(0, 0))
    needed, other = (fewest.test if test else fewest.interval), "use random=inputs"
    if not needed:
        return f"no method for {statistic} at level {level} over new systems is known to hold its level; {other}"
    if level != "system" and random == "systems":
        return f"no method at level {level} over new systems on these inputs is known to hold its level; use both"
    if systems < needed:
        return f"{systems} systems; fewer than {needed} say too little about new ones; {other}"
    if inputs < fewest.inputs:
        return f"{inputs} inputs; with fewer than {fewest.inputs} no method holds its level; {other}"
    return ""


def why_not_given(statistic: Statistic, level: Level, inputs: int) -> str:
    """Why no interval over so many new inputs is given for these systems; "" if one is."""
    if statistic not in COEFFICIENTS:
        return ""
    if level == "system" and statistic != "pearson":
        return "the few orders of given systems leave no interval of ranks that holds its level"
    return "" if inputs >= FEWEST_GIVEN else f"{inputs} inputs; with fewer than {FEWEST_GIVEN} none holds its level"


def _fisher(values: Floats) -> Floats:
    return np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))


def _esscher(tau: Floats, n: int) -> Floats:
    """Standard deviation of Kendall's tau of n normal pairs (Esscher 1924)."""
    rho = np.sin(np.pi / 2 * tau)
    pairs = 1 / 9 - 4 / np.pi**2 * np.arcsin(rho / 2) ** 2
    return np.sqrt(np.maximum(2 / (n * (n - 1)) * (1 - tau**2 + 2 * (n - 2) * pairs), 0))


# A scale of each coefficient, and its standard deviation there, of n independent systems and a true value.
SCALES: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats, int], Floats]]] = {
    "pearson": (_fisher, lambda true, n: 1 / np.sqrt(n - 3 + 0 * true)),
    "spearman": (_fisher, lambda true, n: np.sqrt((1 + true**2 / 2) / (n - 2))),  # Bonett and Wright 2000: n - 3
    "kendall": (lambda values: values, _esscher),
}


def deviations(value: Floats, true: Floats, n: int, statistic: str) -> Floats:
    """By how many standard deviations the coefficient of n independent systems exceeds a true one."""
    scale, spread = SCALES[statistic]
    return (scale(value) - scale(true)) / spread(true, n)


def system_interval(value: float, n: int, statistic: str, confidence: float) -> tuple[float, float]:
    """The true values from which the coefficient of ``n`` independent systems, not 1, deviates by chance alone."""
    scale, spread = SCALES[statistic]
    most = norm.ppf((1 + confidence) / 2)

    def beyond(end: float, side: int) -> float:
        true = np.asarray(end)
        return float(scale(true) + side * most * spread(true, n) - scale(np.asarray(value)))

    return brentq(beyond, -1, value, (1,)), brentq(beyond, value, 1, (-1,))


def system_means(rows: Rows) -> Rows:
    """One row for each system with a text: the means of its scores."""
    _, system, counts = np.unique(rows.system, return_inverse=True, return_counts=True)
    human, metric = (np.bincount(system, weights=column) / counts for column in (rows.human, rows.metric))
    each = np.arange(len(counts))
    return Rows(human, metric, each, len(each), each, len(each), len(each))


def spread(rows: Rows, changes: Floats) -> tuple[float, int]:
    """Standard error of a statistic to which each row makes a change (n,), systems and inputs random; its degrees.

    The variance over systems plus that over inputs, less that of their cells, which the two count twice (Cameron,
    Gelbach and Miller 2011), each larger by its few clusters. NaN where that is not positive.
    """
    cell = rows.system * rows.units + rows.unit
    systems, inputs, cells = (
        np.bincount(np.unique(ids, return_inverse=True)[1], changes) for ids in (rows.system, rows.unit, cell)
    )
    variance = two_way((systems**2).sum(), (inputs**2).sum(), (cells**2).sum(), len(systems), len(inputs))
    return float(np.sqrt(variance)) if variance > 0 else np.nan, min(len(systems), len(inputs)) - 1


def two_way(systems: Floats, inputs: Floats, cells: Floats, m: int, n: int) -> Floats:
    """The variance of `spread` from sums of squares over m systems, n inputs and their cells (...)."""
    return (m / (m - 1)) ** FEW * systems + (n / (n - 1)) ** FEW * inputs - cells


class Interval(NamedTuple):
    """Low and high end; NaN with a ``reason``."""

    low: float
    high: float
    reason: str = ""


def population_interval(rows: Rows, statistic: Statistic, level: Level, random: Random, confidence: float) -> Interval:
    """The interval of a coefficient over new systems, on these inputs or on new ones."""
    nan = float("nan")
    if reason := why_not(statistic, level, len(np.unique(rows.system)), len(np.unique(rows.unit)), random):
        return Interval(nan, nan, f"no interval: {reason}")
    if level == "system":
        means = system_means(rows)
        value = float(COEFFICIENTS[statistic](means.human, means.metric))
        if abs(value) > 1 - 1e-6:
            return Interval(nan, nan, "no interval: a perfect correlation of systems has none")
        return Interval(*system_interval(value, len(means), statistic, confidence))
    value, changes = row_influence(rows, statistic, level)
    error, degrees = spread(rows, changes)
    if np.isnan(error) or abs(value) > 1 - 1e-6:
        return Interval(nan, nan, "no interval: the spread over systems and inputs is undefined")
    width = student.ppf((1 + confidence) / 2, degrees) * error / (1 - value**2)
    z = float(np.arctanh(value))
    return Interval(float(np.tanh(z - width)), float(np.tanh(z + width)))


def clustered_p(first: Rows, second: Rows, statistic: Statistic, level: Level) -> tuple[float, ...]:
    """The difference of two metrics on the same rows, and its two-tailed and one-tailed p by a clustered t test."""
    (one, changes), (other, others) = (row_influence(rows, statistic, level) for rows in (first, second))
    error, degrees = spread(first, changes - others)
    t = (one - other) / error
    return one - other, float(2 * student.sf(abs(t), degrees)), float(student.sf(t, degrees))
