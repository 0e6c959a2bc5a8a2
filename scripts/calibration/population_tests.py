"""Calibrate intervals and tests of metrics where inputs, systems or both are random, on data with a known answer.

    OMP_NUM_THREADS=1 python scripts/calibration/population_tests.py

A text's score is the sum of its system's quality, its article's difficulty and their interaction, for people and for
two metrics that are equally good in the population. Prints Markdown tables of misses: the share of 95% intervals
without the population's value, and of tests that call the metrics different at 5%. Both should be 5%. With inputs
random the population is that of the same systems, else systems are new, on as many inputs.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import rankdata

from rlsum.evaluation.coefficients import COEFFICIENTS, pearson
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.population import Random, fisher, jackknife_p, population_interval, why_not
from rlsum.evaluation.resampling import bootstrap, permutation
from rlsum.evaluation.rows import Floats, paired_rows
from rlsum.evaluation.weighted import Level, Statistic
from rlsum.evaluation.williams import williams

SYSTEMS, INPUTS = (4, 8, 16, 24), (10, 30, 100, 300)
LEVELS: tuple[Level, ...] = ("system", "input", "pooled")
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
ALPHA = 0.05
LARGE = 2_500  # texts of one data set; beyond, levels that compare texts are not simulated
TESTED, SWAPS = 1_000, 199  # data sets of a cell at level system that are tested, and swaps of each


@dataclass(frozen=True)
class World:
    """Shares of the variance (system, article, interaction), with the agreement of people and each metric in each."""

    name: str
    shares: tuple[float, float, float]
    agreement: tuple[float, float, float] = (0.8, 0.5, 0.4)
    between: tuple[float, float, float] = (0.7, 0.6, 0.5)

    def parts(self, shapes: tuple[tuple[int, ...], ...], generator: Generator) -> Floats:
        """People and two metrics (3, ...): the sum of three parts, each of a shape that broadcasts with the others."""
        whole: Floats = np.zeros(())
        for share, r, between, shape in zip(self.shares, self.agreement, self.between, shapes, strict=True):
            mix = np.linalg.cholesky(np.array([[1, r, r], [r, 1, between], [r, between, 1]]))
            drawn = generator.standard_normal((*shape, 3)) @ mix.T
            whole = whole + np.sqrt(share) * np.moveaxis(drawn, -1, 0)
        return whole

    def draw(self, draws: int, systems: int, inputs: int, generator: Generator) -> Floats:
        """Scores (3, draws, systems, inputs) of new systems and new articles."""
        shapes = (draws, systems, 1), (draws, 1, inputs), (draws, systems, inputs)
        return self.parts(shapes, generator)


WORLDS = (
    World("systems differ", (0.25, 0.25, 0.5)),
    World("systems are close", (0.05, 0.25, 0.7)),
    World("systems differ much", (0.6, 0.1, 0.3)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300, help="data sets of a cell at levels input and pooled")
    parser.add_argument("--fast", type=int, default=4_000, help="and at level system")
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="how many of the worlds")
    parser.add_argument("--tables", default="system,texts,inputs,paper", help="which tables")
    parser.add_argument("--levels", nargs="+", choices=LEVELS[1:], default=LEVELS[1:], help="of the table texts")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tables: dict[str, Callable[[], Iterator[str]]] = {
        "system": lambda: system_table(options.fast, options.seed, options.worlds),
        "texts": lambda: texts_table(options.draws, options.seed, options.worlds, options.levels),
        "inputs": lambda: inputs_table(options.draws, options.seed),
        "paper": lambda: paper_table(options.draws, options.seed),
    }
    for name in options.tables.split(","):
        for line in tables[name]():
            print(line, flush=True)
        print()


def shown(misses: float) -> str:
    """A share in percent; a dash where nothing is printed."""
    return "-" if np.isnan(misses) else f"{100 * misses:.1f}"


def system_table(draws: int, seed: int, worlds: int) -> Iterator[str]:
    """Level system, systems or both random: Fisher's z, and the permutation of system means."""
    yield "| world | systems | inputs | " + " | ".join(f"{name}: interval | test" for name in STATISTICS) + " |"
    yield "|---" * (3 + 2 * len(STATISTICS)) + "|"
    for world in WORLDS[:worlds]:
        for systems in SYSTEMS:
            for inputs in INPUTS:
                generator = np.random.default_rng([seed, systems, inputs])
                # The mean over articles: their difficulty shifts all systems alike, the interaction shrinks.
                small = World("", (*world.shares[:1], 0.0, world.shares[2] / inputs), world.agreement, world.between)
                scores = small.draw(draws, systems, 1, generator)[..., 0]
                truth = small.draw(1, 200_000, 1, generator)[:, 0, :, 0]
                cells = [s for name in STATISTICS for s in _system_cell(name, scores, truth, systems, generator)]
                yield f"| {world.name} | {systems} | {inputs} | " + " | ".join(map(shown, cells)) + " |"


def _system_cell(
    statistic: Statistic, scores: Floats, truth: Floats, systems: int, generator: Generator
) -> tuple[float, float]:
    if why_not(statistic, "system", systems, 1):
        return float("nan"), float("nan")
    coefficient = COEFFICIENTS[statistic]
    # Kendall's tau of a normal population is 2 / pi asin r; of Spearman's rho the large sample is exact enough.
    r = float(COEFFICIENTS["pearson" if statistic == "kendall" else statistic](truth[0], truth[1]))
    value = 2 / np.pi * np.arcsin(r) if statistic == "kendall" else r
    low, high = fisher(coefficient(scores[0], scores[1]), systems, statistic, 1 - ALPHA)
    missed, p = (value < low) | (value > high), _test_of_systems(statistic, scores[:, :TESTED], generator)
    return float(np.mean(missed)), float(np.mean(p <= ALPHA + 1e-12))


def _test_of_systems(statistic: Statistic, scores: Floats, generator: Generator) -> Floats:
    """p (draws,) of the test between metrics on scores (3, draws, systems), made as for one data set."""
    human, a, b = scores
    if statistic == "pearson":
        _, above = williams(pearson(human, a), pearson(human, b), pearson(a, b), human.shape[1])
        return 2 * np.minimum(above, 1 - above)
    people, one, other = (rankdata(scores, axis=1) for scores in (human, a, b))
    coefficient = COEFFICIENTS["pearson" if statistic == "spearman" else statistic]
    observed = np.abs(coefficient(people, one) - coefficient(people, other))
    extreme = np.ones(len(human))
    for swap in generator.integers(0, 2, (SWAPS, 1, human.shape[1])) == 1:
        swapped = np.where(swap, other, one), np.where(swap, one, other)
        extreme += np.abs(coefficient(people, swapped[0]) - coefficient(people, swapped[1])) >= observed - 1e-9
    return extreme / (SWAPS + 1)


def texts_table(draws: int, seed: int, worlds: int, levels: Sequence[Level]) -> Iterator[str]:
    """Levels input and pooled, both random: the jackknife over systems and inputs."""
    yield "| world | level | coefficient | systems | inputs | interval | test |"
    yield "|---" * 7 + "|"
    for world, level, statistic, systems, inputs in itertools.product(
        WORLDS[:worlds], levels, STATISTICS, SYSTEMS, INPUTS
    ):
        if systems * inputs <= (LARGE if statistic == "pearson" else LARGE // 3):
            cells = _texts_cell(world, level, statistic, systems, inputs, draws, seed)
            where = world.name, level, statistic, str(systems), str(inputs)
            yield f"| {' | '.join((*where, *map(shown, cells)))} |"


def _texts_cell(
    world: World, level: Level, statistic: Statistic, systems: int, inputs: int, draws: int, seed: int
) -> tuple[float, float]:
    if why_not(statistic, level, systems, inputs):
        return float("nan"), float("nan")
    generator = np.random.default_rng([seed, systems, inputs])
    truth, named = _population(world, level, statistic), _names(systems, inputs)
    missed, rejected = [], []
    for human, a, b in np.moveaxis(world.draw(draws, systems, inputs, generator).reshape(3, draws, -1), 1, 0):
        pair = paired_rows(human, a, b, **named)
        low, high, _ = population_interval(pair[0], statistic, level, "both", 1 - ALPHA)
        missed.append(not low <= truth <= high)
        rejected.append(jackknife_p(*pair, statistic, level, "both")[1] <= ALPHA)
    return float(np.mean(missed)), float(np.mean(rejected))


def inputs_table(draws: int, seed: int) -> Iterator[str]:
    """New inputs for given systems: intervals of the bootstrap; ``draws`` sets of systems."""
    yield "| level | systems | inputs | " + " | ".join(STATISTICS[:2]) + " |"
    yield "|---" * 5 + "|"
    for level, systems, inputs in itertools.product(LEVELS, (4, 16), INPUTS[:3]):
        cells = [_inputs_cell(level, statistic, systems, inputs, draws, seed) for statistic in STATISTICS[:2]]
        yield f"| {level} | {systems} | {inputs} | " + " | ".join(map(shown, cells)) + " |"


def _inputs_cell(level: Level, statistic: Statistic, systems: int, inputs: int, draws: int, seed: int) -> float:
    """Misses of the value that these systems have on average over new inputs, as many as here."""
    generator, world, coefficient = np.random.default_rng([seed, systems, inputs]), WORLDS[0], COEFFICIENTS[statistic]
    missed = []
    for row in range(draws):
        given = World("", (world.shares[0], 0, 0), world.agreement).parts(((1, systems, 1),) * 3, generator)
        shapes = (1,), (200, 1, inputs), (200, systems, inputs)
        new = given + World("", (0, *world.shares[1:]), world.agreement).parts(shapes, generator)
        human, metric = new[0], new[1]
        if level == "system":
            values = coefficient(human.mean(2), metric.mean(2))
        elif level == "input":
            values = coefficient(human.swapaxes(1, 2), metric.swapaxes(1, 2)).mean(1)
        else:
            values = coefficient(human.reshape(200, -1), metric.reshape(200, -1))
        found = correlate(
            human[0].ravel(), metric[0].ravel(), statistic=statistic, level=level, resamples=400, seed=row,
            **_names(systems, inputs),
        )  # fmt: skip
        missed.append(np.nan if np.isnan(found.low) else not found.low <= values[1:].mean() <= found.high)
    return float(np.mean(missed))


def _population(world: World, level: Level, statistic: Statistic) -> float:
    """The coefficient of infinitely many systems and articles: scores are normal, at each level."""
    parts = range(3) if level == "pooled" else (0, 2)
    variance = sum(world.shares[part] for part in parts)
    r = sum(world.shares[part] * world.agreement[part] for part in parts) / variance
    if statistic == "spearman":
        return float(6 / np.pi * np.arcsin(r / 2))
    return float(2 / np.pi * np.arcsin(r)) if statistic == "kendall" else r


def _names(systems: int, inputs: int) -> dict[str, Any]:
    system, unit = np.divmod(np.arange(systems * inputs), inputs)
    return {"systems": system, "inputs": unit}


def paper_table(draws: int, seed: int) -> Iterator[str]:
    """The resampling of Deutsch et al. (2021) where systems and inputs are random: Pearson's r, 199 resamples."""
    kinds: tuple[Random, ...] = ("inputs", "systems", "both")
    heads = [f"{method}-{random}" for method in ("BOOT", "PERM") for random in kinds]
    yield f"| level | systems | inputs | {' | '.join(heads)} |"
    yield "|---" * (3 + len(heads)) + "|"
    world = WORLDS[0]
    for level in LEVELS:
        for systems, inputs in ((4, 30), (8, 30), (8, 100), (24, 30)):
            generator = np.random.default_rng([seed, systems, inputs])
            scores = world.draw(draws, systems, inputs, generator)
            truth = _population(World("", _shrunk(world, inputs), world.agreement), "input", "pearson")
            truth = truth if level == "system" else _population(world, level, "pearson")
            misses = np.zeros((draws, 6))
            for row, (human, a, b) in enumerate(np.moveaxis(scores, 1, 0)):
                pair = paired_rows(human.ravel(), a.ravel(), b.ravel(), **_names(systems, inputs))
                for column, random in enumerate(kinds):
                    low, high = np.nanquantile(
                        bootstrap(pair[0], "pearson", level, random, 199, row), [ALPHA / 2, 1 - ALPHA / 2]
                    )
                    misses[row, column] = not low <= truth <= high
                    difference, swaps = permutation(*pair, "pearson", level, random, 199, row)
                    p = (1 + (np.abs(swaps) >= abs(difference) - 1e-9).sum()) / (1 + len(swaps))
                    misses[row, 3 + column] = p <= ALPHA + 1e-12
            yield f"| {level} | {systems} | {inputs} | " + " | ".join(map(shown, misses.mean(0))) + " |"


def _shrunk(world: World, inputs: int) -> tuple[float, float, float]:
    """The shares of a system's mean over so many inputs."""
    return world.shares[0], 0.0, world.shares[2] / inputs


if __name__ == "__main__":
    main()
