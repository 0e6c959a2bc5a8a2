"""Calibrate the tests between two metrics: false alarms and power on simulated data with a known answer.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.metric_tests --picture docs/pictures/power.png

Under the null hypothesis both metrics agree with people equally well, so a test at a nominal 5% should reject in 5% of
the draws; with a real difference, its share of rejections is its power. Thousands of draws are tested at once: a draw
is a row of a matrix. Prints two Markdown tables, false alarms and power; the second is also drawn.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.stats import rankdata

from calibration.preference import print_table
from rlsum.evaluation.coefficients.pearson import pearson
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.significance import williams
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS

Shape = Literal["normal", "skewed", "unlike"]

ALPHA = 0.05
DRAWS = 20_000
SWAPS = 199  # per permutation test: p can be exactly .05
LOGNORMAL = float(np.sqrt(np.e - 1))  # corr(x, z) / corr(x, exp z) of normal x and z with unit variances
BLOCK = 500  # draws at once
TESTS = {"Williams": "williams", "permutation of rows": "permutation", "permutation of inputs": "clustered"}


@dataclass(frozen=True)
class World:
    """A population of judged rows: ``inputs`` inputs with ``rows`` systems each.

    Each input has an effect on the human scores and on each metric, with ``shared`` of the variance, as hard articles
    have; the rest of the variance belongs to the row. ``r`` is the correlation of people with the second metric,
    ``r + gain`` with the first, ``between`` that of the metrics, in both parts. ``skewed``: all scores are exponentials
    of normal ones; the metrics correlate less than ``r``, but equally if gain is 0. ``unlike``: only the second metric
    is an exponential, of a normal score whose higher correlation makes the metric's Pearson correlation ``r``; the
    metrics are then equally good but not exchangeable. ``ranked``: every score is replaced by its rank, which makes
    Pearson's r Spearman's rho.
    """

    name: str
    inputs: int = 100
    rows: int = 1
    shared: float = 0.0
    r: float = 0.5
    gain: float = 0.0
    between: float = 0.6
    shape: Shape = "normal"
    ranked: bool = False

    def draw(self, draws: int, generator: Generator) -> tuple[Floats, Floats, Floats]:
        """Human scores and the scores of both metrics, each (draws, inputs, rows)."""
        first, second = self.r + self.gain, self.r * (LOGNORMAL if self.shape == "unlike" else 1)
        matrix = np.array([[1, first, second], [first, 1, self.between], [second, self.between, 1]])
        mix = np.linalg.cholesky(matrix).T
        scores = generator.standard_normal((draws, self.inputs, self.rows, 3)) @ mix
        if self.shared:
            effect = generator.standard_normal((draws, self.inputs, 1, 3)) @ mix
            scores = np.sqrt(1 - self.shared) * scores + np.sqrt(self.shared) * effect
        if self.shape == "skewed":
            scores = np.exp(scores)
        if self.shape == "unlike":
            scores = np.concatenate([scores[..., :2], np.exp(scores[..., 2:])], axis=-1)
        if self.ranked:
            scores = rankdata(scores.reshape(draws, -1, 3), axis=1).reshape(scores.shape)
        return scores[..., 0], scores[..., 1], scores[..., 2]


@dataclass(frozen=True)
class RejectionRates:
    """The share of ``draws`` of a world in which each test rejected at the 5% level, two-tailed."""

    world: World
    draws: int
    williams: float
    permutation: float
    clustered: float

    @property
    def error(self) -> float:
        """Standard error of a share of 5%."""
        return float(np.sqrt(ALPHA * (1 - ALPHA) / self.draws))


# Worlds without a difference, where Williams' test is valid and where it is not.
NULLS = (
    World("independent, normal, Pearson"),
    World("independent, normal, Pearson, r = .2", r=0.2),
    World("independent, normal, Pearson, 30 items", inputs=30),
    World("independent, normal, Spearman", r=0.6, ranked=True),
    World("independent, skewed, Pearson", shape="skewed"),
    World("independent, skewed, Spearman", shape="skewed", ranked=True),
    World("independent, one metric skewed, Pearson", shape="unlike"),
    World("4 rows an input, 30% shared", rows=4, shared=0.3),
    World("4 rows an input, 60% shared", rows=4, shared=0.6),
    World("4 rows an input, 60% shared, Spearman", rows=4, shared=0.6, ranked=True),
    World("10 rows an input, 60% shared", rows=10, shared=0.6),
    World("4 rows an input, 60% shared, skewed", rows=4, shared=0.6, shape="skewed"),
    World("4 rows an input, 60% shared, one metric skewed", rows=4, shared=0.6, shape="unlike"),
)

# Worlds with a difference, for the power of each test.
GAINS = (0.0, 0.025, 0.05, 0.1, 0.15, 0.2)
POWERS = (
    World("100 inputs, 1 row each"),
    World("100 inputs, 4 rows each, 30% shared", rows=4, shared=0.3),
    World("500 inputs, 4 rows each, 30% shared", inputs=500, rows=4, shared=0.3),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS, help="simulated data sets for each false alarm rate")
    parser.add_argument("--power-draws", type=int, default=2_000, help="and for each point of a power curve")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, help="where to write the power curves (.png)")
    options = parser.parse_args()
    print(f"False alarms at 5%, two-tailed, {options.draws:,} draws\n")
    print_table(
        ["world", *TESTS],
        ([world.name, *shares(rejections(world, options.draws, seed=options.seed))] for world in NULLS),
    )
    curves = {world.name: power(world, GAINS, options.power_draws, seed=options.seed) for world in POWERS}
    print(f"\nPower at 5%, two-tailed, {options.power_draws:,} draws; r = .5 + gain against .5\n")
    points = ([f"{name}; gain {point.world.gain}", *shares(point)] for name, curve in curves.items() for point in curve)
    print_table(["world", *TESTS], points)
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        options.picture.write_bytes(picture("power", "Power", "", [panel(*curve) for curve in curves.items()]).light)


def shares(point: RejectionRates) -> list[str]:
    return [f"{100 * getattr(point, key):.1f}%" for key in TESTS.values()]


def panel(name: str, points: Sequence[RejectionRates]) -> Panel:
    gains = np.array([point.world.gain for point in points])
    kept = {test: key for test, key in TESTS.items() if points[0].world.rows > 1 or key != "clustered"}
    lines = (
        Curve(test, colour, gains, np.array([getattr(point, key) for point in points]))
        for (test, key), colour in zip(kept.items(), COLOURS, strict=False)
    )
    nominal = Curve("5%", COLOURS[-1], gains, np.full(len(gains), 0.05), dashed=True)
    return Panel(name, (*lines, nominal), across="gain in r", up="power")


def rejections(world: World, draws: int = DRAWS, swaps: int = SWAPS, seed: int = 0) -> RejectionRates:
    """Draw a world ``draws`` times and test its two metrics each time by Pearson's r, two-tailed at 5%.

    Permutations are drawn for every block of draws and shared within it. Seeded.
    """
    generator = np.random.default_rng(seed)
    counts = np.zeros(3)
    for start in range(0, draws, BLOCK):
        size = min(BLOCK, draws - start)
        human, a, b = world.draw(size, generator)
        x, y, z = (scores.reshape(size, -1) for scores in (human, a, b))
        _, above = williams(pearson(x, y), pearson(x, z), pearson(y, z), x.shape[1])
        by_rows = _permutation_p(x[..., None], y[..., None], z[..., None], swaps, generator)
        by_inputs = by_rows if world.rows == 1 else _permutation_p(human, a, b, swaps, generator)
        p_values = (2 * np.minimum(above, 1 - above), by_rows, by_inputs)
        counts += [(p <= ALPHA + 1e-12).sum() for p in p_values]
    return RejectionRates(world, draws, *(counts / draws).tolist())


def power(world: World, gains: tuple[float, ...], draws: int = DRAWS, seed: int = 0) -> list[RejectionRates]:
    """`rejections` of a world for every true difference of correlation in ``gains``."""
    return [rejections(replace(world, gain=gain), draws, seed=seed) for gain in gains]


def _permutation_p(human: Floats, a: Floats, b: Floats, swaps: int, generator: Generator) -> Floats:
    """Two-tailed p (draws,) of the permutation test on Pearson's r that swaps units: scores (draws, units, rows).

    Both metrics are standardised over a draw. Swapping unit u moves its part of each sum from one metric to the other,
    so all swaps of all draws are one matrix product; `swapped_differences` does the same for one data set.
    """
    human, a, b = (_standard(scores) for scores in (human, a, b))
    draws, units, rows = human.shape
    pattern = generator.integers(0, 2, size=(swaps, units)).astype(np.float64)
    changes = ((b - a) * human, b - a, b * b - a * a)
    with_human, total, square = (pattern @ change.sum(-1).T for change in changes)  # each (swaps, draws)
    n = units * rows
    start_a, start_b = ((scores * human).sum((1, 2)) for scores in (a, b))

    def r(product: Floats, total: Floats, square: Floats) -> Floats:
        return product / np.sqrt(n * (square - total**2 / n))

    observed = r(start_a, np.zeros(draws), np.full(draws, n)) - r(start_b, np.zeros(draws), np.full(draws, n))
    swapped = r(start_a + with_human, total, n + square) - r(start_b - with_human, -total, n - square)
    extreme = (np.abs(swapped) >= np.abs(observed) - 1e-9).sum(0)
    return (extreme + 1) / (swaps + 1)


def _standard(scores: Floats) -> Floats:
    centred = scores - scores.mean((1, 2), keepdims=True)
    return centred / np.sqrt((centred**2).mean((1, 2), keepdims=True))


if __name__ == "__main__":
    main()
