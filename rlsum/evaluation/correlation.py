"""Correlation of a metric with people at one of three levels, with an interval clustered by input.

Pooled: over all rows. Input: within each input over its systems, then the mean over inputs where it is defined. System:
over the systems' means. Intervals are clustered by input, because rows of one input share its difficulty and its
reference and are not independent; with ``random`` systems they are for systems to come (`rlsum.evaluation.population`).
Those of statistics without an ``influence`` are percentiles of a bootstrap that draws whole inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rlsum.errors import option
from rlsum.evaluation.coefficients.statistic import Engine, Level, Statistic
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.population import Ends, counted, no_interval, population_interval
from rlsum.evaluation.rows import Floats, Ids, Ints, Rows, check_option, constant, judged_rows
from rlsum.evaluation.statistics import EQUAL, OF_CORRELATIONS, Random, Uncertainty, row_blocks

FEWEST = 30  # inputs of a bootstrap's interval, whose percentiles miss too often with fewer
ENOUGH = 0.95  # share of resamples in which a statistic must be defined for an interval


@dataclass(frozen=True)
class Correlation:
    """Correlation of a metric with people.

    ``value`` in [-1, 1] (accuracies in [0, 1]) with its interval ``low`` to ``high``; NaN if undefined, for the
    ``reason`` given. ``n`` rows were used, ``coverage`` is their share of the judged rows. ``over`` is the number of
    rows (pooled), of inputs with a value (input), or of systems (system); ``left_out`` counts inputs without a value (a
    single row, or constant scores). ``epsilon`` is the tie threshold of acc-t, NaN otherwise. ``random`` says for which
    population the interval is.
    """

    statistic: str
    level: Level
    value: float
    low: float
    high: float
    n: int
    coverage: float
    over: int
    left_out: int = 0
    epsilon: float = float("nan")
    reason: str = ""
    random: Random = "inputs"


def correlate(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    statistic: str = "spearman",
    level: Level = "pooled",
    inputs: Ids | None = None,
    systems: Ids | None = None,
    random: Random = "inputs",
    how: Uncertainty = OF_CORRELATIONS,
) -> Correlation:
    """Correlate ``metric`` (n,) with ``human`` (n,), both higher = better, NaN = undefined.

    ``inputs`` and ``systems`` (n,) name the input and the system of each row; without ``inputs`` each row is its
    own input. ``how`` without resamples omits the interval; only statistics without an ``influence`` use their
    number. Kendall is tau-b. Level input needs ``inputs``, level system ``systems``, random systems both. Raises
    ValueError for unknown options, missing names, vectors of unequal length, infinite scores.
    """
    stat = named(statistic)
    stat.check(level)
    needed(level, inputs, systems, random)
    rows = judged_rows(human, metric, inputs, systems)
    over, left_out = _counts(rows, stat, level)
    nan = float("nan")
    result = Correlation(statistic, level, nan, nan, nan, len(rows), rows.coverage, over, left_out, random=random)
    if reason := why_undefined(rows, level, over):
        return replace(result, reason=reason)
    whole = np.ones((1, rows.units))
    value, epsilon = stat.exact(rows, level) or (float(stat.engine(rows, level)(whole)[0]), nan)
    if np.isnan(value):
        return replace(result, reason=_why_flat(rows, stat, level))
    if stat.influence and how.resamples:
        ends = population_interval(rows, statistic, level, random, how.level)
    elif random != "inputs":
        ends = no_interval(f"{statistic} has none over new systems; use {option('random', 'inputs')}")
    elif not how.resamples:
        ends = Ends(nan, nan)
    elif reason := few_inputs(len(np.unique(rows.unit))):
        ends = Ends(nan, nan, reason)
    else:
        ends = interval(stat.engine(rows, level), rows.unit, rows.units, how)
    return replace(result, value=value, epsilon=epsilon, **ends._asdict())


def needed(level: Level, inputs: Ids | None, systems: Ids | None, random: Random = "inputs") -> None:
    """Raise ValueError if the names that a level or random systems need are missing."""
    check_option("random", random, Random)
    if random != "inputs" and (inputs is None or systems is None):
        raise ValueError(f"random={random!r} needs inputs and systems: the names of each row's input and system")
    if level == "input" and inputs is None:
        raise ValueError("level='input' needs inputs: the name of each row's input")
    if level == "system" and systems is None:
        raise ValueError("level='system' needs systems: the name of each row's system")


def why_undefined(rows: Rows, level: Level, over: int) -> str:
    """The reason why no statistic of these rows is defined; "" if one may be."""
    if not rows.judged:
        return "no row has a human score"
    if not len(rows):
        return "the metric is undefined on every judged row"
    if level == "input" and not over:
        return "no input has two rows whose human and metric scores both vary"
    if level != "input" and over < 2:
        return f"only one {'row' if level == 'pooled' else 'system'} has both scores; at least two are needed"
    return ""


def _why_flat(rows: Rows, statistic: Statistic, level: Level) -> str:
    if constant(rows.human):
        return "the human scores are constant"
    if constant(rows.metric):
        return "the metric's scores are constant"
    return (
        statistic.undefined
        or f"the {'' if level == 'pooled' else 'mean '}scores of people or of the metric are constant"
    )


def bootstrap_values(statistic: Engine, units: int, resamples: int, seed: int) -> Floats:
    """Values (resamples,) of an engine when ``units`` inputs are drawn with replacement; seeded."""
    generator = np.random.default_rng(seed)
    values = []
    for count in row_blocks(resamples, units):
        drawn = generator.integers(0, units, size=(count, units)) + units * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units)
        values.append(statistic(times.astype(np.float64)))
    return np.concatenate(values)


def percentiles(values: Floats, confidence: float) -> Ends:
    """Low and high end of the values (resamples,), or NaN and the reason if too many are undefined, or all equal."""
    defined = values[~np.isnan(values)]
    if len(defined) < ENOUGH * len(values):
        share = 1 - len(defined) / len(values)
        return no_interval(f"undefined in {share:.0%} of the resamples")
    if np.ptp(defined) <= EQUAL * abs(defined[0]):  # as of judges who all agree
        return no_interval("the same in all resamples")
    return Ends(*np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist())


def few_inputs(inputs: int) -> str:
    """Why a bootstrap of so many inputs has no interval; "" if it has one."""
    counts = f"{counted(inputs, 'input')}; with fewer than {FEWEST} a bootstrap does not hold its level"
    return f"no interval: {counts}" if inputs < FEWEST else ""


def interval(statistic: Engine, unit: Ints, units: int, how: Uncertainty) -> Ends:
    """The bootstrap interval over ``units`` of rows that belong to ``unit`` (n,), or NaN and the reason."""
    if not how.resamples:
        return Ends(np.nan, np.nan)
    if len(np.unique(unit)) < 2:
        return no_interval("all rows belong to one input")
    return percentiles(bootstrap_values(statistic, units, how.resamples, how.seed), how.level)


def _counts(rows: Rows, statistic: Statistic, level: Level) -> tuple[int, int]:
    """The number of rows, inputs or systems with a value, and of inputs without one."""
    if level == "pooled":
        return len(rows), 0
    if level == "system":
        return len(np.unique(rows.system)), 0
    sizes = np.bincount(rows.unit, minlength=rows.units)
    defined = int((sizes > 1 if "input" in statistic.engines else ~np.isnan(statistic.by_unit(rows))).sum())
    return defined, int((sizes > 0).sum()) - defined
