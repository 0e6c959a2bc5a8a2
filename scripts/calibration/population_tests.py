"""Calibrate intervals and tests of metrics where inputs, systems or both are random, on data with a known answer.

    OMP_NUM_THREADS=1 python -m scripts.calibration.population_tests docs/results/population.csv

A text's score is the sum of its system's quality, its article's difficulty and their interaction, for people and for
two metrics that are equally good. Every cell of the grid is one row of the file: the share of 95% intervals without
the population's value, and of tests that call the metrics different at 5%; both should be 5%. Cells that the file has
are not simulated again, but for --again SETS: those with a printed share outside 4 to 6%, of fewer data sets. A
summary of what rlsum prints is printed.

New systems: every data set has its own, and the metrics are equally good among all. Given systems: 25 data sets share
them; the metrics rate them differently, but are equally good on them: one metric's qualities are the other's, mirrored
and negated, and people's are the same mirrored and negated, which leaves every coefficient as it is.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from rlsum.evaluation.coefficients.pearson import pearson
from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.influence import influence, mean_slopes
from rlsum.evaluation.population import larger, power, why_not
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.significance import williams
from rlsum.evaluation.statistics import Random
from rlsum.files import write_atomically

STATISTICS: tuple[str, ...] = ("pearson", "spearman", "kendall")
INPUTS = (10, 30, 100, 300)
ALPHA = 0.05
SHARED = 25  # data sets of the same given systems
SWAPS = 299  # of each test of systems' ranks
FAST = 10_000  # data sets of a cell that needs only the systems' means
BLOCK = 20_000  # texts at once, so that all pairs within an article fit in a cache
SLOW = 4  # so many times fewer texts where each takes longer: pooled Kendall


@dataclass(frozen=True)
class World:
    """Shares of the variance (system, article, interaction), with the agreement of people and each metric in each."""

    name: str
    shares: tuple[float, float, float]
    agreement: tuple[float, float, float] = (0.8, 0.5, 0.4)
    between: tuple[float, float, float] = (0.7, 0.6, 0.5)

    def component(self, number: int, shape: tuple[int, ...], generator: Generator) -> Floats:
        """One component of the scores of people and two metrics (3, *shape)."""
        r, between = self.agreement[number], self.between[number]
        mix = np.linalg.cholesky(np.array([[1, r, r], [r, 1, between], [r, between, 1]]))
        drawn = generator.standard_normal((*shape, 3)) @ mix.T
        return np.sqrt(self.shares[number]) * np.moveaxis(drawn, -1, 0)

    def draw(self, draws: int, systems: int, inputs: int, generator: Generator) -> Floats:
        """Scores (3, draws, systems, inputs) of new systems and new articles."""
        shapes = (draws, systems, 1), (draws, 1, inputs), (draws, systems, inputs)
        components = [self.component(number, shape, generator) for number, shape in enumerate(shapes)]
        return components[0] + components[1] + components[2]

    def draw_given(self, draws: int, systems: int, inputs: int, generator: Generator) -> Floats:
        """Scores (3, draws, systems, inputs) of the same systems, on which both metrics are equally good."""
        human, first, _ = self.component(0, (systems,), generator)
        human[systems // 2 :] = -human[: systems // 2][::-1]
        shared = np.stack([human, first, -first[::-1]])[:, None, :, None]
        shapes = (draws, 1, inputs), (draws, systems, inputs)
        components = [self.component(number, shape, generator) for number, shape in enumerate(shapes, 1)]
        return shared + components[0] + components[1]


WORLDS = (
    World("differ", (0.25, 0.25, 0.5)),
    World("are close", (0.05, 0.25, 0.7)),
    World("differ much", (0.6, 0.1, 0.3)),
)


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: its size, the number of data sets, misses and false alarms as shares; NaN: not simulated."""

    random: Random
    level: Level
    statistic: str
    world: int
    systems: int
    inputs: int
    sets: int = 0
    interval: float = float("nan")
    test: float = float("nan")
    tested: int = 0
    seconds: float = float("nan")

    @property
    def key(self) -> tuple[str, ...]:
        """What names the cell."""
        return tuple(map(str, astuple(self)[:6]))

    def printed(self, test: bool) -> bool:
        """Whether rlsum prints an interval or a test of such data."""
        return not why_not(self.statistic, self.level, self.systems, self.inputs, self.random, test)

    def off(self, sets: int) -> bool:
        """Whether a printed share of fewer data sets lies outside 4 to 6%."""
        shares = (self.interval, self.sets, False), (self.test, self.tested, True)
        return any(
            count < sets and self.printed(test) and abs(share - ALPHA) > 0.01 + 1e-9 for share, count, test in shares
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="results (.csv); what is missing is simulated")
    parser.add_argument("--sets", type=int, default=2_000, help="data sets of a cell at most")
    parser.add_argument("--texts", type=int, default=15_000_000, help="texts of a cell at most")
    parser.add_argument("--again", type=int, default=0, help="data sets of a cell whose share lies outside 4 to 6%%")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    done = read(options.file)
    for cell in sorted(grid(), key=lambda cell: (cell.inputs, cell.systems)):
        if cell.key not in done:
            done[cell.key] = simulated(cell, options.sets, options.texts, options.seed)
            write(options.file, done)
    for cell in list(done.values()) if options.again else []:
        if cell.off(options.again):
            done[cell.key] = simulated(cell, options.again, options.texts, options.seed)
            write(options.file, done)
    for line in summary(done):
        print(line)


def grid() -> Iterator[Cell]:
    """All cells: at level system, new systems with the same articles are those with new ones."""
    worlds = range(len(WORLDS))
    for world, inputs, level, statistic in itertools.product(worlds, INPUTS, ("system", "input", "pooled"), STATISTICS):
        for systems in (4, 8, 16, 24):
            if level != "system" or statistic == "pearson":
                yield Cell("inputs", level, statistic, world, systems, inputs)  # type: ignore[arg-type]
        for systems in (8, 12, 16, 24) if level == "system" else (16, 24):
            if level == "system" or inputs > 10:
                yield Cell("both", level, statistic, world, systems, inputs)  # type: ignore[arg-type]


def read(file: Path) -> dict[tuple[str, ...], Cell]:
    """The cells of a file by their keys; none without a file."""
    if not file.exists():
        return {}
    types = {field.name: {"int": int, "float": float}.get(str(field.type), str) for field in fields(Cell)}
    with file.open(encoding="utf-8", newline="") as lines:
        cells = [Cell(**{name: types[name](text) for name, text in row.items()}) for row in csv.DictReader(lines)]
    return {cell.key: cell for cell in cells}


def write(file: Path, cells: dict[tuple[str, ...], Cell]) -> None:
    """Write the cells to a file, a row each."""
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else value for value in astuple(cell)] for cell in cells.values()
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[field.name for field in fields(Cell)], *rows])
    write_atomically(file, text.getvalue().encode())


def simulated(cell: Cell, sets: int, texts: int, seed: int) -> Cell:
    """The cell with its shares; seeded by its size, world and population."""
    start = time.process_time()
    generator = np.random.default_rng([seed, cell.world, cell.systems, cell.inputs, cell.random == "both"])
    if cell.random == "both" and cell.level == "system":
        shares = _of_systems(cell, sets, generator)
    else:
        slow = (cell.level, cell.statistic) == ("pooled", "kendall")
        size = cell.systems * cell.inputs
        sets = max(10, min(sets, texts // (SLOW if slow else 1) // size) // SHARED) * SHARED
        shares = (sets, *_of_texts(cell, sets, generator), sets)
    size_of = (cell.random, cell.level, cell.statistic, cell.world, cell.systems, cell.inputs)
    return Cell(*size_of, *shares, round(time.process_time() - start, 2))


def _of_texts(cell: Cell, sets: int, generator: Generator) -> tuple[float, float]:
    """Misses of the intervals of both metrics, and false alarms of the t test."""
    world, block = WORLDS[cell.world], max(1, BLOCK // (cell.systems * cell.inputs))
    blocks: list[Floats] = []
    same_systems = cell.random == "inputs"
    for size in [SHARED] * (sets // SHARED):
        drawn = (world.draw_given if same_systems else world.draw)(size, cell.systems, cell.inputs, generator)
        pieces = np.split(drawn, range(block, size, block), axis=1)
        blocks.append(np.concatenate([estimates(piece, cell) for piece in pieces], axis=1))
    first, error, second, second_error, of_difference = np.stack(blocks, axis=1)  # (groups, SHARED) each
    degrees = (cell.inputs if same_systems else min(cell.systems, cell.inputs)) - 1
    most = student.ppf(1 - ALPHA / 2, degrees)
    missed = [_missed(value, most * width, cell) for value, width in ((first, error), (second, second_error))]
    return float(np.mean(missed)), float(np.mean(np.abs(first - second) > most * of_difference))


def _missed(values: Floats, widths: Floats, cell: Cell) -> float:
    """The share of intervals (groups, SHARED) without the mean of their population, from which values deviate less."""
    axis = 1 if cell.random == "inputs" else None
    truth, n = values.mean(axis, keepdims=True), values.shape[1] if axis else values.size
    off = np.abs(values - truth)
    if cell.level != "system":
        values = np.clip(values, -1 + 1e-9, 1 - 1e-9)
        off = np.abs(np.arctanh(values) - np.arctanh(np.clip(truth, -1 + 1e-9, 1 - 1e-9))) * (1 - values**2)
    return float(np.mean(off * np.sqrt(n / (n - 1)) > widths))


def estimates(scores: Floats, cell: Cell) -> Floats:
    """Of scores (3, draws, systems, inputs): both values with errors, and the error of the difference (5, draws)."""
    human, *metrics = scores
    (first, change), (second, second_change) = (changes(human, metric, cell) for metric in metrics)
    errors = [_error(change, cell) for change in (change, second_change, change - second_change)]
    return np.stack([first, errors[0], second, errors[1], errors[2]])


def changes(human: Floats, metric: Floats, cell: Cell) -> tuple[Floats, Floats]:
    """Values (draws,) of scores (draws, systems, inputs), and the change of each text, or of each input if given."""
    draws, systems, inputs = human.shape
    if cell.level == "system":
        means = human.mean(2), metric.mean(2)
        value, slopes = mean_slopes(np.stack(means))
        off = np.stack([human - means[0][..., None], metric - means[1][..., None]])
        return value, np.einsum("kds,kdsn->dn", slopes, off) / inputs
    if cell.level == "pooled":
        value, change = influence(human.reshape(draws, -1), metric.reshape(draws, -1), cell.statistic)
        change = change.reshape(human.shape) / (systems * inputs)
        return value, change.sum(1) if cell.random == "inputs" else change
    human, metric = human.swapaxes(1, 2), metric.swapaxes(1, 2)
    if cell.random == "inputs":
        ranked = cell.statistic == "spearman"
        values = pearson(_ranks(human), _ranks(metric)) if ranked else named(cell.statistic).of(human, metric)
        return values.mean(1), (values - values.mean(1, keepdims=True)) / inputs
    values, change = influence(human, metric, cell.statistic)
    change = change / (systems * inputs) + ((values - values.mean(1, keepdims=True)) / (systems * inputs))[..., None]
    return values.mean(1), change.swapaxes(1, 2)


def _ranks(values: Floats) -> Floats:
    """Ranks of few values (..., n) without ties."""
    return (values[..., :, None] > values[..., None, :]).sum(-1, dtype=np.float64)


def _error(change: Floats, cell: Cell) -> Floats:
    """Standard errors of changes by inputs (draws, inputs), or by texts (draws, systems, inputs)."""
    few = power(cell.statistic, cell.level, cell.random)
    if cell.random == "inputs":
        return np.sqrt(larger(cell.inputs, few) * (change**2).sum(1))
    by_system, by_input = ((change.sum(axis) ** 2).sum(1) for axis in (2, 1))
    variance = larger(cell.systems, few) * by_system + larger(cell.inputs, few) * by_input - (change**2).sum((1, 2))
    return np.sqrt(np.maximum(variance, 0))


def _of_systems(cell: Cell, sets: int, generator: Generator) -> tuple[int, float, float, int]:
    """Intervals and tests of systems' means: their articles' difficulty is the same, their interaction shrinks."""
    world, systems, statistic = WORLDS[cell.world], cell.systems, cell.statistic
    small = World("", (world.shares[0], 0.0, world.shares[2] / cell.inputs), world.agreement, world.between)
    draws = max(FAST, sets)
    scores = small.draw(draws, systems, 1, generator)[..., 0]
    r = sum(share * rho for share, rho in zip(small.shares, small.agreement, strict=True)) / sum(small.shares)
    value = named(statistic).of(scores[0], scores[1])
    sampling = named(statistic).sampling
    assert sampling is not None
    scale, deviation = sampling
    true = np.array(_expected(statistic, r, systems))
    off = (scale(value) - scale(true)) / deviation(true, systems)
    missed = float(np.mean(np.abs(off) > norm.ppf(1 - ALPHA / 2)))
    if statistic != "pearson" and why_not(statistic, "system", systems, cell.inputs, "both", test=True):
        return draws, missed, float("nan"), 0
    p = _williams_p(scores) if statistic == "pearson" else _permuted_p(statistic, scores[:, :sets], generator)
    return draws, missed, float(np.mean(p <= ALPHA + 1e-12)), len(p)


def _expected(statistic: str, r: float, systems: int) -> float:
    """The expected coefficient of so many systems of a normal population; Pearson's is taken as r."""
    if statistic == "spearman":  # Moran 1948
        return float(6 / np.pi / (systems + 1) * (np.arcsin(r) + (systems - 2) * np.arcsin(r / 2)))
    return float(2 / np.pi * np.arcsin(r)) if statistic == "kendall" else r


def _williams_p(scores: Floats) -> Floats:
    human, a, b = scores
    _, above = williams(pearson(human, a), pearson(human, b), pearson(a, b), human.shape[1])
    return 2 * np.minimum(above, 1 - above)


def _permuted_p(statistic: str, scores: Floats, generator: Generator) -> Floats:
    """p (draws,) of the permutation of whole systems; each data set has swaps of its own."""
    human, a, b = (scores - scores.mean(2, keepdims=True)) / scores.std(2, keepdims=True)
    coefficient = _ranked if statistic == "spearman" else _concordance
    people = rankdata(human, axis=1) if statistic == "spearman" else human
    observed = np.abs(coefficient(people, a) - coefficient(people, b))
    extreme = np.ones(len(human))
    for _ in range(SWAPS):
        swap = generator.integers(0, 2, a.shape, dtype=np.int8) == 1
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        extreme += np.abs(coefficient(people, first) - coefficient(people, second)) >= observed - 1e-9
    return extreme / (SWAPS + 1)


def _ranked(ranks: Floats, metric: Floats) -> Floats:
    """Spearman's rho without ties, but for a factor."""
    return (ranks * np.argsort(np.argsort(metric, axis=1), axis=1)).sum(1)


def _concordance(human: Floats, metric: Floats) -> Floats:
    """Kendall's tau without ties, but for a factor."""
    first, second = np.triu_indices(human.shape[1], 1)
    return ((human[:, first] > human[:, second]) == (metric[:, first] > metric[:, second])).sum(1)


def summary(cells: dict[tuple[str, ...], Cell]) -> Iterator[str]:
    """Of each population and level, the range of the shares that rlsum prints; then those far from 4 to 6%."""
    yield "| random | level | what | coefficients | figures | data sets | lowest to highest |"
    yield "|---" * 7 + "|"
    rows: dict[tuple[Random, Level, bool], list[tuple[float, int, Cell]]] = {}
    for cell in cells.values():
        for test, share, sets in ((False, cell.interval, cell.sets), (True, cell.test, cell.tested)):
            if cell.printed(test):
                rows.setdefault((cell.random, cell.level, test), []).append((share, sets, cell))
    for (random, level, test), row in sorted(rows.items()):
        shares, counts, shown = zip(*row, strict=True)
        names = ", ".join(name for name in STATISTICS if name in {cell.statistic for cell in shown})
        of_sets = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
        range_of = f"{100 * min(shares):.1f} to {100 * max(shares):.1f}%"
        what = "tests" if test else "intervals"
        yield f"| {random} | {level} | {what} | {names} | {len(row)} | {of_sets} | {range_of} |"
    figures = [(abs(share - ALPHA) - 0.01, sets, share, cell) for row in rows.values() for share, sets, cell in row]
    off = [figure for figure in figures if figure[0] > 1e-9]
    yield f"{len(figures)} figures, {len(figures) - len(off)} within 4 to 6%. Further from it than one standard error:"
    for distance, sets, share, cell in off:
        if distance > np.sqrt(ALPHA * (1 - ALPHA) / sets):
            yield f"{' '.join(cell.key)}: {100 * share:.1f}% of {sets:,}"


if __name__ == "__main__":
    main()
