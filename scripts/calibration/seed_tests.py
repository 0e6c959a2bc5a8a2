"""Calibrate tests of two systems over seeds and articles: how often is one of two equal systems called better?

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.seed_tests

A difference is a seed effect, an article effect that all seeds share, and a residual with standard deviation 1. A test
at 5% should call equal systems different in 5% of the draws, whatever the sizes of the effects. With normal effects the
mean and the mean squares are independent, one normal and the others multiples of chi squares (Scheffe 1959), so they
are drawn directly; the bootstrap needs whole tables. Prints Markdown: for each number of seeds the lowest and the
highest share over all worlds, and power.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats

from calibration.preference import print_table
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.hierarchical import Components, critical
from rlsum.evaluation.trained.power import DEFAULTS, detectable, power

ALPHA = 0.05
SEEDS = (2, 3, 5)
ARTICLES = (100, 300, 1000)
SEED_SDS = (0.0, 0.03, 0.1, 0.3, 1.0)
ARTICLE_SDS = (0.0, 0.5, 1.0, 2.0)
BLOCK = 500  # tables at once
Rejected = NDArray[np.bool_]


@dataclass(frozen=True)
class World:
    """Numbers of seeds and articles, and standard deviations of both effects; the residual's is 1."""

    seeds: int
    articles: int
    seed: float
    article: float

    def squares(self, draws: int, generator: Generator) -> Components:
        """Mean and mean squares of ``draws`` tables with normal effects, each (draws,)."""
        n, m, k = self.seeds, self.articles, self.seeds - 1
        error = np.sqrt(self.seed**2 / n + self.article**2 / m + 1 / (n * m))

        def square(expected: float, df: int) -> Floats:
            return expected * generator.chisquare(df, draws) / df

        return Components(
            error * generator.standard_normal(draws),
            by_seed=square(m * self.seed**2 + 1, k),
            by_article=square(n * self.article**2 + 1, m - 1),
            residual=square(1, k * (m - 1)),
            seeds=n,
            articles=m,
        )

    def tables(self, draws: int, generator: Generator) -> Floats:
        """Tables (draws, seeds, articles)."""
        effect = self.seed * generator.standard_normal((draws, self.seeds, 1))
        shapes = (draws, 1, self.articles), (draws, self.seeds, self.articles)
        sds = (self.article, 1.0)
        article, residual = (sd * generator.standard_normal(shape) for sd, shape in zip(sds, shapes, strict=True))
        return effect + article + residual


def ours(components: Components) -> Rejected:
    """The test of `rlsum.evaluation.trained.hierarchical`."""
    return np.abs(components.mean) > critical(components, ALPHA)


def satterthwaite(components: Components) -> Rejected:
    """Variance components with Satterthwaite's (1946) degrees of freedom."""
    n, m = components.seeds, components.articles
    squares = np.stack([components.by_seed, components.by_article, -components.residual])
    df = np.array([n - 1, m - 1, (n - 1) * (m - 1)])[:, None]
    total = np.maximum(squares.sum(0), components.by_seed)
    bound = stats.t.isf(ALPHA / 2, np.maximum(total**2 / (squares**2 / df).sum(0), n - 1))
    return np.abs(components.mean) > bound * np.sqrt(total / (n * m))


def over_seeds(components: Components) -> Rejected:
    """The t test of the seeds' means: the articles are fixed."""
    bound = stats.t.isf(ALPHA / 2, components.seeds - 1)
    return np.abs(components.mean) > bound * np.sqrt(components.by_seed / (components.seeds * components.articles))


def over_articles(components: Components) -> Rejected:
    """The t test of the articles' means over seeds: the seeds are fixed."""
    bound = stats.t.isf(ALPHA / 2, components.articles - 1)
    return np.abs(components.mean) > bound * np.sqrt(components.by_article / (components.seeds * components.articles))


def both(components: Components) -> Rejected:
    """Both t tests reject."""
    return over_seeds(components) & over_articles(components)


TESTS = {
    "ours": ours,
    "Satterthwaite": satterthwaite,
    "both t": both,
    "t, seeds": over_seeds,
    "t, articles": over_articles,
}


def bootstrap(tables: Floats, resamples: int, generator: Generator) -> Rejected:
    """Percentile bootstrap of tables (draws, seeds, articles): seeds are drawn, and articles, once for all seeds."""
    _, n, m = tables.shape
    seeds = generator.multinomial(n, np.full(n, 1 / n), resamples) / n
    articles = generator.multinomial(m, np.full(m, 1 / m), resamples) / m
    weights = seeds[:, :, None] * articles[:, None]
    means = tables.reshape(len(tables), -1) @ weights.reshape(resamples, -1).T  # (draws, resamples)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    return (low > 0) | (high < 0)


def rates(world: World, draws: int, seed: int) -> dict[str, float]:
    """The share of equal systems that each test calls different."""
    generator = np.random.default_rng(seed)
    components = world.squares(draws, generator)
    return {name: float(test(components).mean()) for name, test in TESTS.items()}


def bootstrap_rate(world: World, draws: int, resamples: int, seed: int) -> dict[str, float]:
    """The same for the bootstrap."""
    generator = np.random.default_rng(seed)
    blocks = [world.tables(BLOCK, generator) for _ in range(draws // BLOCK)]
    return {"bootstrap": float(np.mean([bootstrap(tables, resamples, generator) for tables in blocks]))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40_000, help="simulated comparisons of each world")
    parser.add_argument("--table-draws", type=int, default=4_000, help="and where whole tables are drawn")
    parser.add_argument("--resamples", type=int, default=400, help="of the bootstrap")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worlds = [World(*sizes) for sizes in product(SEEDS, ARTICLES, SEED_SDS, ARTICLE_SDS)]
    by_world = {world: rates(world, options.draws, options.seed) for world in worlds}
    drawn = {
        world: bootstrap_rate(world, options.table_draws, options.resamples, options.seed)
        for world in worlds
        if world.articles == ARTICLES[0]
    }
    print(f"Lowest and highest share of false alarms at 5%; {options.draws:,} draws a world\n")
    spans = ([str(n), *_spans(by_world, n), *_spans(drawn, n)] for n in SEEDS)
    print_table(["seeds", *TESTS, "bootstrap"], spans)
    print(f"\nPower of a gain of 1 point; {DEFAULTS.source}\n")
    designs = ([f"{n}", f"{m:,}", f"{power(0.01, DEFAULTS, n, m):.0%}", f"{100 * detectable(DEFAULTS, n, m):.2f}"]
               for n in (2, 3, 4, 5, 6, 8, 10) for m in ARTICLES)  # fmt: skip
    print_table(["seeds", "articles", "power", "gain shown with 80%"], designs)


def _spans(by_world: dict[World, dict[str, float]], seeds: int) -> list[str]:
    """The lowest and highest share of each test over the worlds with so many seeds."""
    rows = [row for world, row in by_world.items() if world.seeds == seeds]
    return [
        f"{100 * min(row[name] for row in rows):.1f} to {100 * max(row[name] for row in rows):.1f}" for name in rows[0]
    ]


if __name__ == "__main__":
    main()
