"""New inputs, new systems or both: intervals and tests for the population that a number speaks of.

A correlation of the systems at hand says nothing about systems to come: those are another sample (Deutsch, Dror and
Roth 2021). With systems random, their number limits what is known, whatever the number of texts. The methods here are
those that hold their level in `scripts/calibration/population_tests.py`; where none does, there is a reason instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from rlsum.errors import option
from rlsum.evaluation.coefficients.statistic import Fewest, Level, even
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.influence import row_influence
from rlsum.evaluation.rows import Floats, Ids, Rows
from rlsum.evaluation.statistics import Random

MEANING: dict[Random, str] = {
    "inputs": "new inputs, summarized by these systems",
    "systems": "new systems on these inputs",
    "both": "new systems on new inputs, as many as here",
}


def chosen_random(statistic: str, level: Level, inputs: Sequence[Any], systems: Sequence[Any]) -> Random:
    """What is random unless the user says: both where systems share inputs and are enough for an interval."""
    crossed = len(set(systems)) < len(systems) > len(set(inputs))
    return "both" if crossed and not why_not(statistic, level, *sizes(inputs, systems, level), "both") else "inputs"


def sizes(inputs: Ids, systems: Ids, level: Level) -> tuple[int, int]:
    """How many systems and inputs rows have; at level input the systems of the middle input, as each has its own."""
    texts = Counter(inputs)
    return int(np.median([*texts.values()])) if level == "input" and texts else len(set(systems)), len(texts)


def why_not(statistic: str, level: Level, systems: int, inputs: int, random: Random, test: bool = False) -> str:
    """Why no interval or test is given of so many systems and inputs; "" if one is."""
    stat = named(statistic)
    fewest = (stat.given if random == "inputs" else stat.new).get(level, Fewest())
    needed, over = (fewest.test, fewest.test_inputs) if test else (fewest.interval, fewest.inputs)
    whose = "for these systems" if random == "inputs" else "over new systems"
    advice = f"; use {option('random', 'inputs')}"
    if random == "inputs" or why_not(statistic, level, systems, inputs, "inputs", test):
        advice = ""
    if not needed:
        return f"no method for {statistic} at level {level} {whose} is known to hold its level{advice}"
    if level != "system" and random == "systems":
        return f"no method at level {level} over new systems on these inputs is known to hold its level; use both"
    if systems < needed:
        per = " an input" if level == "input" else ""
        return f"{counted(systems, 'system')}{per}; with fewer than {needed} no method {whose} holds its level{advice}"
    if inputs < over:
        return f"{counted(inputs, 'input')}; with fewer than {over} no method {whose} holds its level{advice}"
    return ""


def counted(count: int, noun: str) -> str:
    """A number and its noun: ``1 input``, ``1,200 inputs``."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def system_interval(value: float, n: int, statistic: str, confidence: float) -> tuple[float, float]:
    """The true values from which the coefficient of ``n`` independent systems, not 1, deviates by chance alone."""
    sampling = named(statistic).sampling
    assert sampling is not None, f"{statistic} has no known deviation"
    scale, deviation = sampling
    most = norm.ppf((1 + confidence) / 2)

    def beyond(end: float, side: int) -> float:
        true = np.asarray(end)
        return float(scale(true) + side * most * deviation(true, n) - scale(np.asarray(value)))

    return brentq(beyond, -1, value, (1,)), brentq(beyond, value, 1, (-1,))


def system_means(rows: Rows) -> Rows:
    """One row for each system with a text: the means of its scores."""
    _, system, counts = np.unique(rows.system, return_inverse=True, return_counts=True)
    human, metric = (even(np.bincount(system, weights=column) / counts) for column in (rows.human, rows.metric))
    numbers = np.arange(len(counts))
    return Rows(human, metric, numbers, len(numbers), numbers, len(numbers), len(numbers))


class Spread(NamedTuple):
    """A value or a difference with its standard error, NaN where it is not positive, and degrees of freedom."""

    value: float
    error: float
    degrees: int


def power(statistic: str, level: Level, random: Random) -> int:
    """The power of c / (c - 1) by which the variance over c clusters is larger; chosen by simulation."""
    return 3 if random != "inputs" or (named(statistic).normal and level == "pooled") else 1


def spread(rows: Rows, value: float, changes: Floats, random: Random, exponent: int) -> Spread:
    """The spread of a value to which each row makes a change (n,), with inputs, systems or both random.

    The variance over both is that over systems plus that over inputs, less that of their cells, which the two count
    twice (Cameron, Gelbach and Miller 2011).
    """
    variance, degrees = 0.0, len(rows)
    for name, ids in (("inputs", rows.unit), ("systems", rows.system)):
        if random in (name, "both"):
            sums = np.bincount(np.unique(ids, return_inverse=True)[1], changes)
            variance += larger(len(sums), exponent) * float(sums @ sums)
            degrees = min(degrees, len(sums) - 1)
    if random == "both":
        cells = np.bincount(np.unique(rows.system * rows.units + rows.unit, return_inverse=True)[1], changes)
        variance -= float(cells @ cells)
    return Spread(value, float(np.sqrt(variance)) if variance > 0 and degrees else np.nan, degrees)


def larger(clusters: int, exponent: int) -> float:
    """The factor of the variance over so many clusters."""
    return (clusters / (clusters - 1)) ** exponent if clusters > 1 else np.nan


def valued(rows: Rows, statistic: str, level: Level) -> Rows:
    """At level input the rows of inputs with a value, which alone are a sample; else all."""
    return rows.where(~np.isnan(named(statistic).by_unit(rows))[rows.unit]) if level == "input" else rows


def estimate(rows: Rows, statistic: str, level: Level, random: Random) -> Spread:
    """A coefficient of rows and its spread."""
    value, changes = row_influence(rows, statistic, level)
    return spread(rows, value, changes, random, power(statistic, level, random))


def estimated_difference(first: Rows, second: Rows, statistic: str, level: Level, random: Random) -> Spread:
    """The difference of two metrics' coefficients on the same rows, and its spread."""
    values, influences = zip(*(row_influence(rows, statistic, level) for rows in (first, second)), strict=True)
    return spread(first, values[0] - values[1], influences[0] - influences[1], random, power(statistic, level, random))


def averaged(terms: Sequence[Spread], weights: Floats) -> Spread:
    """The weighted mean of independent values; its degrees of freedom by Welch and Satterthwaite."""
    share = weights / weights.sum()
    variances = share**2 * np.array([term.error for term in terms]) ** 2
    total = float(variances.sum())
    degrees = total**2 / (variances**2 / np.array([term.degrees for term in terms])).sum() if total > 0 else 1
    return Spread(
        float(share @ [term.value for term in terms]), float(np.sqrt(total)) or np.nan, max(1, round(degrees))
    )


class Ends(NamedTuple):
    """Low and high end; NaN with a ``reason``."""

    low: float
    high: float
    reason: str = ""


def no_interval(reason: str) -> Ends:
    """Undefined ends, for a reason."""
    return Ends(np.nan, np.nan, f"no interval: {reason}")


def t_interval(result: Spread, level: Level, confidence: float) -> Ends:
    """The t interval of a coefficient, on the scale of Fisher's z but for level system."""
    value, error, degrees = result
    if abs(value) > 1 - 1e-6:
        return no_interval("a perfect correlation has none")
    if np.isnan(error):
        return no_interval("the estimated variance over inputs or systems is not positive")
    width = student.ppf((1 + confidence) / 2, degrees) * error
    if level == "system":
        return Ends(max(value - width, -1.0), min(value + width, 1.0))
    z, width = np.arctanh(value), width / (1 - value**2)
    return Ends(float(np.tanh(z - width)), float(np.tanh(z + width)))


def t_test(difference: Spread) -> tuple[float, float]:
    """Two-tailed p of a difference, and one-tailed that it is positive; 1 and .5 of equal metrics, NaN undefined."""
    if abs(difference.value) < 1e-12 and not difference.error > 1e-12:
        return 1.0, 0.5
    t = difference.value / difference.error
    return float(2 * student.sf(abs(t), difference.degrees)), float(student.sf(t, difference.degrees))


def population_interval(rows: Rows, statistic: str, level: Level, random: Random, confidence: float) -> Ends:
    """The interval of a coefficient over new inputs, new systems or both."""
    rows = valued(rows, statistic, level)
    if reason := why_not(statistic, level, *sizes(rows.unit, rows.system, level), random):
        return no_interval(reason)
    if level == "system" and random != "inputs":
        means = system_means(rows)
        value = float(named(statistic).of(means.human, means.metric))
        if abs(value) > 1 - 1e-6:
            return no_interval("a perfect correlation has none")
        return Ends(*system_interval(value, len(means), statistic, confidence))
    return t_interval(estimate(rows, statistic, level, random), level, confidence)
