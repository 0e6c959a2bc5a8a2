"""What a statistic of agreement is, and how it is computed of weighted rows where it says nothing else.

An engine is built once from rows and maps weights of their units (b, units) to values (b,). The weights are counts of
draws (bootstrap), zeros and ones that choose between two metrics (permutation), or ones (the plain value).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from rlsum.evaluation.rows import Floats, Ints, Rows, check_option
from rlsum.evaluation.statistics import row_blocks

Level = Literal["pooled", "input", "system"]
Function = Callable[[Floats, Floats], Floats]
Engine = Callable[[Floats], Floats]
Shares = tuple[Floats, Floats, Floats]
Influence = tuple[Callable[[Floats, Floats], Shares], int]
Sampling = tuple[Callable[[Floats], Floats], Callable[[Floats, int], Floats]]


class Fewest(NamedTuple):
    """How many systems and inputs an interval and a test need; 0 systems: none is given."""

    interval: int = 0
    test: int = 0
    inputs: int = 1
    test_inputs: int = 1


@dataclass(frozen=True)
class Statistic:
    """A statistic of agreement. Only a name and a function are needed: it has no intervals and tests then."""

    name: str
    function: Function
    """of people's scores and the metric's, or of systems' means, both (..., n): (...), NaN where it is undefined"""
    pooled: Callable[[Rows], Engine] | None = None
    """its engine of all rows; without it, the function draw by draw"""
    influence: Influence | None = None
    """what each text adds (..., n) to the covariance and both variances, and of how many texts these are averages: t
    intervals and t tests follow"""
    sampling: Sampling | None = None
    """a scale on which the value of n independent systems is about normal, and its deviation there"""
    given: Mapping[Level, Fewest] = field(default_factory=dict)
    """what intervals and tests need to hold their level for these systems (scripts/calibration/population_tests.py)"""
    new: Mapping[Level, Fewest] = field(default_factory=dict)
    """the same over new systems"""
    normal: bool = False
    """whether its t and Williams' tests assume normal scores"""
    williams: bool = False
    """whether it has Williams' test"""
    of_ranks: Callable[[Rows], Engine] | None = None
    """an engine of all rows, whose ranks are swapped in place of their scores and not ranked again"""

    def engine(self, rows: Rows, level: Level) -> Engine:
        """From weights (b, units) to values (b,) at a level, NaN if undefined. Raises ValueError for an unknown one."""
        check_option("level", level, Level)
        if level == "pooled":
            return self.pooled(rows) if self.pooled is not None else one_by_one(rows, self.function)
        return _mean_of_units(self.by_unit(rows)) if level == "input" else _system_means(rows, self.function)

    def by_unit(self, rows: Rows) -> Floats:
        """The function within each unit (units,); NaN if undefined."""
        values = np.full(rows.units, np.nan)
        for units, members in matrices(rows):
            values[units] = self.function(rows.human[members], rows.metric[members])
        return values


def matrices(rows: Rows) -> Iterator[tuple[Ints, Ints]]:
    """Units (u,) with equally many rows, more than one, and these rows (u, size)."""
    order = np.argsort(rows.unit, kind="stable")
    units, starts, sizes = np.unique(rows.unit[order], return_index=True, return_counts=True)
    for size in set(sizes[sizes > 1].tolist()):
        equal = sizes == size
        yield units[equal], order[starts[equal][:, None] + np.arange(size)]


def in_blocks(value: Engine, width: int) -> Engine:
    """The same engine, called on blocks of resamples so that ``width`` numbers per resample fit a processor's cache."""

    def blocked(weights: Floats) -> Floats:
        ends = np.cumsum(list(row_blocks(len(weights), width)))
        return np.concatenate([value(block) for block in np.split(weights, ends[:-1])])

    return blocked


def one_by_one(rows: Rows, function: Function) -> Engine:
    """The engine of a function of all rows, for weights that are whole numbers: copies of rows, draw by draw."""

    def value(weights: Floats) -> Floats:
        times = weights.astype(np.int64)[:, rows.unit]
        drawn = (np.repeat(np.arange(len(rows)), time) for time in times)
        return np.array([float(function(rows.human[take], rows.metric[take])) for take in drawn])

    return in_blocks(value, len(rows))


def _mean_of_units(values: Floats) -> Engine:
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)

    def mean(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return (weights @ filled) / (weights @ defined)

    return mean


def _system_means(rows: Rows, function: Function) -> Engine:
    """The means of each system over its rows, then the function of the systems that have rows."""
    systems, system = np.unique(rows.system, return_inverse=True)
    shape = (rows.units, len(systems))
    cell = rows.unit * len(systems) + system
    counts, human, metric = (
        np.bincount(cell, weights=column, minlength=shape[0] * shape[1]).reshape(shape)
        for column in (None, rows.human, rows.metric)
    )

    def value(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            number = weights @ counts
            return function((weights @ human) / number, (weights @ metric) / number)

    return in_blocks(value, rows.systems**2)


def ratio(both: Floats, x: Floats, y: Floats, flat_x: Floats | float = 0.0, flat_y: Floats | float = 0.0) -> Floats:
    """both / sqrt(x y), NaN where a variance is zero up to rounding."""
    defined = (x > flat_x) & (y > flat_y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, np.clip(both / np.sqrt(np.where(defined, x * y, 1.0)), -1, 1), np.nan)
