"""The resampling of Deutsch, Dror and Roth (2021), draw by draw: BOOT- and PERM-inputs, -systems and -both.

For comparison with their paper and their package: `rlsum correlate` prints the intervals and tests of `population`,
because those of this file often do not hold their level (docs/results/calibration.md). `python -m
scripts.calibration.resampling` prints how often.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np

from rlsum.evaluation.coefficients.statistic import Function, Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.rows import Floats, Rows, check_option, paired_rows
from rlsum.evaluation.statistics import Random, row_blocks

from .population_tests import WORLDS  # as scripts.calibration, and as calibration in the tests


@dataclass(frozen=True)
class Grid:
    """Scores (systems, inputs) of people and of a metric, NaN where a system has no text of an input."""

    human: Floats
    metric: Floats

    @classmethod
    def of(cls, rows: Rows) -> Grid:
        """The grid of rows with one text at most for each system and input. Raises ValueError for more."""
        shape, cell = (rows.systems, rows.units), rows.system * rows.units + rows.unit
        if len(np.unique(cell)) < len(rows):
            raise ValueError("a system has two texts of one input; the resampling of systems needs one")
        human, metric = np.full(shape, np.nan), np.full(shape, np.nan)
        human.flat[cell], metric.flat[cell] = rows.human, rows.metric
        return cls(human, metric)


def bootstrap(rows: Rows, statistic: str, level: Level, random: Random, resamples: int, seed: int = 0) -> Floats:
    """Values (resamples,) of a coefficient where systems, inputs or both are drawn with replacement; NaN: undefined.

    A system drawn twice is two systems with equal scores: they tie in both rankings, as in the authors' package.
    """
    check_option("random", random, Random)
    grid, generator, values = Grid.of(rows), np.random.default_rng(seed), []
    systems, inputs = grid.human.shape
    for count in row_blocks(resamples, systems * inputs * (systems if statistic == "kendall" else 1)):
        system = np.broadcast_to(np.arange(systems), (count, systems))
        unit = np.broadcast_to(np.arange(inputs), (count, inputs))
        if random != "inputs":
            system = generator.integers(0, systems, system.shape)
        if random != "systems":
            unit = generator.integers(0, inputs, unit.shape)
        drawn = system[:, :, None], unit[:, None, :]
        values.append(_correlated(grid.human[drawn], grid.metric[drawn], statistic, level))
    return np.concatenate(values)


def permutation(
    first: Rows, second: Rows, statistic: str, level: Level, random: Random, swaps: int, seed: int = 0
) -> tuple[float, Floats]:
    """The difference of two metrics on the same rows, and those (swaps,) with systems, inputs or both swapped.

    Both swaps the texts of a random half of the systems, then of a random half of the inputs. The metrics are
    standardised over all texts.
    """
    check_option("random", random, Random)
    first_grid, second_grid, generator = Grid.of(first), Grid.of(second), np.random.default_rng(seed)
    people, a, b = first_grid.human[None], _standard(first_grid.metric)[None], _standard(second_grid.metric)[None]
    systems, inputs = first_grid.human.shape

    def difference(a: Floats, b: Floats) -> Floats:
        return _correlated(people, a, statistic, level) - _correlated(people, b, statistic, level)

    values = []
    for count in row_blocks(swaps, systems * inputs * (systems if statistic == "kendall" else 1)):
        system, unit = generator.integers(0, 2, (count, systems, 1)), generator.integers(0, 2, (count, 1, inputs))
        swapped = (system * (random != "inputs")) ^ (unit * (random != "systems")) == 1
        values.append(difference(np.where(swapped, b, a), np.where(swapped, a, b)))
    return float(difference(a, b)[0]), np.concatenate(values)


def _correlated(human: Floats, metric: Floats, statistic: str, level: Level) -> Floats:
    """The coefficient (b,) of scores (b or 1, systems, inputs) at a level."""
    coefficient = named(statistic).of
    human, metric = np.broadcast_arrays(human, metric)
    if level == "system":
        return coefficient(np.nanmean(human, axis=2), np.nanmean(metric, axis=2))
    if level == "pooled":
        return _complete(coefficient, human.reshape(len(human), -1), metric.reshape(len(metric), -1))
    return np.nanmean(_complete(coefficient, human.swapaxes(1, 2), metric.swapaxes(1, 2)), axis=1)


def _complete(coefficient: Function, x: Floats, y: Floats) -> Floats:
    """A coefficient over the last axis without missing values; at once where none is missing."""
    missing = np.isnan(x)
    if not missing.any():
        return coefficient(x, y)
    samples = zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]), strict=True)
    values = [coefficient(a[~np.isnan(a)], b[~np.isnan(a)]) if (~np.isnan(a)).sum() > 1 else np.nan for a, b in samples]
    return np.array(values).reshape(x.shape[:-1])


def _standard(values: Floats) -> Floats:
    return (values - np.nanmean(values)) / np.nanstd(values)


def paper_table(draws: int, seed: int) -> Iterator[str]:
    """Misses and false alarms in percent where systems and inputs are random: Pearson's r, 199 resamples."""
    kinds: tuple[Random, ...] = ("inputs", "systems", "both")
    heads = [f"{method}-{random}" for method in ("BOOT", "PERM") for random in kinds]
    yield f"| level | systems | inputs | {' | '.join(heads)} |"
    yield "|---" * (3 + len(heads)) + "|"
    world, levels = WORLDS[0], get_args(Level)
    for level, (systems, inputs) in itertools.product(levels, ((4, 30), (8, 30), (8, 100), (24, 30))):
        shrunk = (1, 0, 1 / inputs) if level == "system" else (1, level == "pooled", 1)
        parts = [share * kept for share, kept in zip(world.shares, shrunk, strict=True)]
        truth = sum(share_kept * r for share_kept, r in zip(parts, world.agreement, strict=True)) / sum(parts)
        misses = np.zeros((draws, 6))
        scores = world.draw(draws, systems, inputs, np.random.default_rng([seed, systems, inputs]))
        system, unit = np.divmod(np.arange(systems * inputs), inputs)
        for row, (human, a, b) in enumerate(np.moveaxis(scores, 1, 0)):
            pair = paired_rows(human.ravel(), a.ravel(), b.ravel(), inputs=unit, systems=system)
            for column, random in enumerate(kinds):
                ends = np.nanquantile(bootstrap(pair[0], "pearson", level, random, 199, row), [0.025, 0.975])
                misses[row, column] = not ends[0] <= truth <= ends[1]
                difference, swaps = permutation(*pair, "pearson", level, random, 199, row)
                misses[row, 3 + column] = (1 + (np.abs(swaps) >= abs(difference) - 1e-9).sum()) / 200 <= 0.05 + 1e-12
        yield f"| {level} | {systems} | {inputs} | {' | '.join(f'{100 * share:.1f}' for share in misses.mean(0))} |"


if __name__ == "__main__":
    for line in paper_table(draws=60, seed=0):
        print(line, flush=True)
