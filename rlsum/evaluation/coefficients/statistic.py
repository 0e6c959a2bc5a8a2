"""What a statistic of agreement is, and how it is computed of weighted rows where it says nothing else.

An engine is built once from rows and maps weights of their units (b, units) to values (b,). The weights are counts of
draws (bootstrap), zeros and ones that choose between two metrics (permutation), or ones (the plain value).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

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
    """A statistic of agreement. Only a name, and a function or engines, are needed."""

    name: str
    function: Function | None = None
    """of people's scores and the metric's, or of systems' means, both (..., n): (...), NaN where it is undefined"""
    engines: Mapping[Level, Callable[[Rows], Engine]] = field(default_factory=dict)
    """by default those of the function: draw by draw over all rows, its mean over inputs, or of the systems' means"""
    exact: Callable[[Rows, Level], tuple[float, float] | None] = lambda rows, level: None
    """the value and its threshold of ties, or None where the engine is exact"""
    levels: tuple[Level, ...] = get_args(Level)
    span: tuple[float, float] = (-1.0, 1.0)
    """its lowest and highest value; one that begins at 0 is an accuracy"""
    undefined: str = ""
    """why it has no value although the scores vary"""
    influence: Influence | None = None
    """what each text adds (..., n) to the covariance and both variances, and of how many texts these are averages: t
    intervals and t tests follow. Without it, a bootstrap and swaps of inputs replace them"""
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
    scaled: bool = True
    """whether it is the same for scores on another scale, so that metrics are standardised before a swap"""
    of_ranks: Callable[[Rows], Engine] | None = None
    """an engine of all rows, whose ranks are swapped in place of their scores and not ranked again"""
    untested: tuple[Level, ...] = ()
    """levels at which metrics are not tested against one another"""

    @property
    def accuracy(self) -> bool:
        """Whether it is a share of right answers, so that 0 is no lack of agreement."""
        return self.span[0] == 0

    def of(self, human: Floats, metric: Floats) -> Floats:
        """The function of two variables (..., n)."""
        assert self.function is not None, f"{self.name} is none of two variables"
        return self.function(human, metric)

    def check(self, level: str) -> None:
        """Raise ValueError for an unknown level, or one at which it is not defined."""
        check_option("level", level, Level)
        if level not in self.levels:
            levels = " or ".join(map(repr, self.levels))
            raise ValueError(f"statistic={self.name!r} has no level {level!r}; use level={levels}")

    def engine(self, rows: Rows, level: Level) -> Engine:
        """From weights (b, units) to values (b,) at a level, NaN if undefined. Raises as `check` does."""
        self.check(level)
        if level in self.engines:
            return self.engines[level](rows)
        if level == "pooled":
            return one_by_one(rows, self.of)
        return _mean_of_units(self.by_unit(rows)) if level == "input" else _system_means(rows, self.of)

    def by_unit(self, rows: Rows) -> Floats:
        """The function within each unit (units,); NaN if undefined."""
        values = np.full(rows.units, np.nan)
        for units, members in matrices(rows):
            values[units] = self.of(rows.human[members], rows.metric[members])
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
            return function(even((weights @ human) / number), even((weights @ metric) / number))

    return in_blocks(value, rows.systems**2)


def even(means: Floats) -> Floats:
    """Means (..., n), those that differ by rounding made equal: sums in another order would break ties."""
    order = np.argsort(means, axis=-1)
    rising = np.take_along_axis(means, order, -1)
    near = np.diff(rising, prepend=-np.inf, axis=-1) <= 1e-12 * np.abs(means).max(initial=0.0, where=~np.isnan(means))
    equal = np.empty_like(means)
    np.put_along_axis(equal, order, np.maximum.accumulate(np.where(near, -np.inf, rising), axis=-1), -1)
    return equal


def ratio(both: Floats, x: Floats, y: Floats, flat_x: Floats | float = 0.0, flat_y: Floats | float = 0.0) -> Floats:
    """both / sqrt(x y), NaN where a variance is zero up to rounding."""
    defined = (x > flat_x) & (y > flat_y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, np.clip(both / np.sqrt(np.where(defined, x * y, 1.0)), -1, 1), np.nan)
