"""Calibrate intervals and tests of metrics where inputs, systems or both are random, on data with a known answer.

    OMP_NUM_THREADS=1 python -m scripts.calibration.population_tests

A text's score is the sum of its system's quality, its article's difficulty and their interaction, for people and for
two metrics that are equally good in the population. Prints Markdown tables of misses: the share of 95% intervals
without the population's value, and of tests that call the metrics different at 5%. Both should be 5%. The population's
value is that of as many new systems and inputs; with inputs random, that of the same systems on as many new inputs.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from calibration.resampling import bootstrap, permutation
from rlsum.evaluation.coefficients import COEFFICIENTS, pearson
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.influence import influence
from rlsum.evaluation.population import Random, deviations, two_way, why_not, why_not_given
from rlsum.evaluation.rows import Floats, paired_rows
from rlsum.evaluation.weighted import Level, Statistic
from rlsum.evaluation.williams import williams

LEVELS: tuple[Level, ...] = ("system", "input", "pooled")
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
ALPHA = 0.05
TESTED, SWAPS = 1_500, 299  # data sets of a cell at level system whose ranks are tested, and swaps of each
RANKED = 800  # texts of one data set; beyond, the bootstrap of pooled ranks is not simulated
BLOCK = 400_000  # texts at once


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
    parser.add_argument("--fast", type=int, default=10_000, help="data sets of a cell at level system")
    parser.add_argument("--texts", type=int, default=150_000, help="inputs of all data sets of a cell, other levels")
    parser.add_argument("--draws", type=int, default=400, help="data sets of a cell with systems as given")
    parser.add_argument("--paper", type=int, default=60, help="data sets of a cell by the papers' resampling")
    parser.add_argument("--tables", default="system,texts,given,paper", help="which tables")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tables: dict[str, Callable[[], Iterator[str]]] = {
        "system": lambda: system_table(options.fast, options.seed),
        "texts": lambda: texts_table(options.texts, options.seed),
        "given": lambda: given_table(options.draws, options.seed),
        "paper": lambda: paper_table(options.paper, options.seed),
    }
    for name in options.tables.split(","):
        for line in tables[name]():
            print(line, flush=True)
        print()


def shown(misses: float) -> str:
    """A share in percent; a dash where nothing is printed."""
    return "-" if np.isnan(misses) else f"{100 * misses:.1f}"


def line(*cells: object) -> str:
    return f"| {' | '.join(shown(cell) if isinstance(cell, float) else str(cell) for cell in cells)} |"


def system_table(draws: int, seed: int) -> Iterator[str]:
    """Level system, systems or both random."""
    yield line("world", "systems", "inputs", *(f"{name}: interval | test" for name in STATISTICS))
    yield "|---" * (3 + 2 * len(STATISTICS)) + "|"
    for world, systems, inputs in itertools.product(WORLDS, (4, 8, 12, 16, 24), (10, 100)):
        generator = np.random.default_rng([seed, systems, inputs])
        # The mean over articles: their difficulty shifts all systems alike, the interaction shrinks.
        small = World("", _shrunk(world, inputs), world.agreement, world.between)
        scores = small.draw(draws, systems, 1, generator)[..., 0]
        r = _population(small, "input", "pearson")
        cells = [share for name in STATISTICS for share in _system_cell(name, scores, r, generator)]
        yield line(world.name, systems, inputs, *cells)


def _system_cell(statistic: Statistic, scores: Floats, r: float, generator: Generator) -> tuple[float, float]:
    """Misses of intervals and of tests on scores (3, draws, systems) of normal populations that correlate by r."""
    missed, rejected, systems = np.nan, np.nan, scores.shape[2]
    if not why_not(statistic, "system", systems, 1):
        value = COEFFICIENTS[statistic](scores[0], scores[1])
        off = deviations(value, np.array(_expected(statistic, r, systems)), systems, statistic)
        missed = float(np.mean(np.abs(off) > norm.ppf(1 - ALPHA / 2)))
    if not why_not(statistic, "system", systems, 1, test=True):
        p = _williams_p(scores) if statistic == "pearson" else _permuted_p(statistic, scores[:, :TESTED], generator)
        rejected = float(np.mean(p <= ALPHA + 1e-12))
    return missed, rejected


def _expected(statistic: Statistic, r: float, systems: int) -> float:
    """The expected coefficient of so many systems of a normal population; Pearson's is taken as r."""
    if statistic == "spearman":  # Moran 1948
        return float(6 / np.pi / (systems + 1) * (np.arcsin(r) + (systems - 2) * np.arcsin(r / 2)))
    return float(2 / np.pi * np.arcsin(r)) if statistic == "kendall" else r


def _williams_p(scores: Floats) -> Floats:
    human, a, b = scores
    _, above = williams(pearson(human, a), pearson(human, b), pearson(a, b), human.shape[1])
    return 2 * np.minimum(above, 1 - above)


def _permuted_p(statistic: Statistic, scores: Floats, generator: Generator) -> Floats:
    """p (draws,) of the permutation of whole systems; each data set has swaps of its own."""
    human, a, b = (scores - scores.mean(2, keepdims=True)) / scores.std(2, keepdims=True)
    coefficient = _ranked if statistic == "spearman" else _concordance
    people = rankdata(human, axis=1) if statistic == "spearman" else human
    observed = np.abs(coefficient(people, a) - coefficient(people, b))
    extreme = np.ones(len(human))
    for _ in range(SWAPS):
        swap = generator.integers(0, 2, a.shape, dtype=np.int8) == 1
        one, other = np.where(swap, b, a), np.where(swap, a, b)
        extreme += np.abs(coefficient(people, one) - coefficient(people, other)) >= observed - 1e-9
    return extreme / (SWAPS + 1)


def _ranked(ranks: Floats, metric: Floats) -> Floats:
    """Spearman's rho without ties, but for a factor."""
    return (ranks * np.argsort(np.argsort(metric, axis=1), axis=1)).sum(1)


def _concordance(human: Floats, metric: Floats) -> Floats:
    """Kendall's tau without ties, but for a factor."""
    one, other = np.triu_indices(human.shape[1], 1)
    return ((human[:, one] > human[:, other]) == (metric[:, one] > metric[:, other])).sum(1)


def texts_table(texts: int, seed: int) -> Iterator[str]:
    """Levels input and pooled, both random: influences clustered by systems and by inputs."""
    yield line("world", "level", "coefficient", "systems", "inputs", "data sets", "interval", "test")
    yield "|---" * 8 + "|"
    kinds: list[tuple[Level, Statistic]]
    kinds = [("pooled", "pearson"), ("pooled", "spearman"), ("input", "spearman"), ("input", "kendall")]
    for (level, statistic), world, systems, inputs in itertools.product(kinds, WORLDS, (24,), (100, 300)):
        generator, draws = np.random.default_rng([seed, systems, inputs]), texts // inputs
        sizes = [len(part) for part in np.array_split(np.arange(draws), max(1, draws * systems * inputs // BLOCK))]
        found = [_estimates(world.draw(size, systems, inputs, generator), level, statistic) for size in sizes]
        first, error, second, error_of_difference = np.concatenate(found, axis=1)
        most = student.ppf(1 - ALPHA / 2, systems - 1)
        off = np.abs(np.arctanh(first) - np.arctanh(first.mean())) * (1 - first**2)
        missed, rejected = (off > most * error).mean(), (np.abs(first - second) > most * error_of_difference).mean()
        yield line(world.name, level, statistic, systems, inputs, draws, float(missed), float(rejected))


def _estimates(scores: Floats, level: Level, statistic: Statistic) -> Floats:
    """Values of the first metric, their standard errors, values of the second, standard errors of the difference."""
    human, a, b = scores
    (first, change), (second, other) = (_influences(human, metric, level, statistic) for metric in (a, b))
    return np.stack([first, _error(change), second, _error(change - other)])


def _influences(human: Floats, metric: Floats, level: Level, statistic: Statistic) -> tuple[Floats, Floats]:
    """The coefficient (draws,) of scores (draws, systems, inputs) and the influence of each text."""
    if level == "pooled":
        value, change = influence(human.reshape(len(human), -1), metric.reshape(len(human), -1), statistic)
        return value, change.reshape(human.shape)
    values, change = influence(human.swapaxes(1, 2), metric.swapaxes(1, 2), statistic)
    return values.mean(1), change.swapaxes(1, 2) + (values - values.mean(1, keepdims=True))[:, None]


def _error(change: Floats) -> Floats:
    _, systems, inputs = change.shape
    sums = (change.sum(2) ** 2).sum(1), (change.sum(1) ** 2).sum(1), (change**2).sum((1, 2))
    return np.sqrt(np.maximum(two_way(*sums, systems, inputs), 0)) / (systems * inputs)


def given_table(draws: int, seed: int) -> Iterator[str]:
    """New inputs for given systems: intervals of `correlate`, of as many data sets for each of ten sets of systems."""
    yield line("level", "systems", "inputs", *STATISTICS)
    yield "|---" * (3 + len(STATISTICS)) + "|"
    for level, systems, inputs in itertools.product(LEVELS, (4, 16), (10, 30, 100, 300)):
        cells = [_given_cell(level, statistic, systems, inputs, draws, seed) for statistic in STATISTICS]
        yield line(level, systems, inputs, *cells)


def _given_cell(level: Level, statistic: Statistic, systems: int, inputs: int, draws: int, seed: int) -> float:
    """Misses of the value that these systems have on average over new inputs, as many as here."""
    large = level == "pooled" and statistic != "pearson" and systems * inputs > RANKED
    if large or why_not_given(statistic, level, inputs):
        return float("nan")
    generator, world, missed = np.random.default_rng([seed, systems, inputs]), WORLDS[0], []
    for _ in range(10):
        given = World("", (world.shares[0], 0, 0), world.agreement).parts(((1, systems, 1),) * 3, generator)
        shapes = (1, 1, 1), (draws // 10, 1, inputs), (draws // 10, systems, inputs)
        human, metric, _ = given + World("", (0, *world.shares[1:]), world.agreement).parts(shapes, generator)
        found = [
            correlate(
                x.ravel(), z.ravel(), statistic=statistic, level=level, resamples=400, seed=row,
                **_names(systems, inputs),
            )
            for row, (x, z) in enumerate(zip(human, metric, strict=True))
        ]  # fmt: skip
        truth = np.mean([each.value for each in found])
        missed += [not each.low <= truth <= each.high for each in found]
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
