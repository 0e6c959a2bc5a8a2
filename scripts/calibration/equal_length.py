"""Compare ways to compare two systems at equal length, where the score depends on length alone.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.equal_length

Both systems score the same function of the length of their summary, and an article is hard for both: at equal length
there is no difference. One system writes longer summaries. Prints the mean estimate, which should be 0, its standard
deviation, and how often a test at 5% calls the systems different, for the raw difference, a line through all pairs, and
the local line of `rlsum.evaluation.trained.equal_length`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from calibration.preference import print_table
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.equal_length import at_equal_length, influence
from rlsum.evaluation.trained.hierarchical import mean_difference

# What a summary of so many tokens scores: by every token, up to a cap, with a peak at the reference's length (F1).
SCORES = {
    "line": lambda tokens: 0.004 * tokens,
    "cap": lambda tokens: 0.008 * np.minimum(tokens, 57),
    "peak": lambda tokens: 0.44 - 0.004 * np.abs(tokens - 60),
}
SEEDS, EXTRA = (2, 3, 5), (0, 8, 16)


@dataclass(frozen=True)
class World:
    """Seeds, articles, extra tokens of the first system, the shape of scores, their noise and that of a seed (SD)."""

    seeds: int
    articles: int
    extra: float
    shape: str = "line"
    noise: float = 0.04
    seed: float = 0.005

    def draw(self, generator: Generator) -> tuple[Floats, Floats, Floats, Floats]:
        """Scores and lengths of both systems, each (seeds, articles)."""
        size = (self.seeds, self.articles)
        long, hard = generator.normal(0, 4, self.articles), generator.normal(0, 0.05, self.articles)
        lengths = [np.round(55 + extra + long + generator.normal(0, 8, size)) for extra in (self.extra, 0.0)]
        scores = [SCORES[self.shape](tokens) + hard + generator.normal(0, self.noise, size) for tokens in lengths]
        scores[0] += generator.normal(0, self.seed, (self.seeds, 1))
        return scores[0], scores[1], lengths[0], lengths[1]


def rates(world: World, draws: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Way -> mean, standard deviation and share of false alarms over ``draws`` comparisons."""
    generator = np.random.default_rng(seed)
    estimates: dict[str, list[tuple[float, float]]] = {"raw": [], "line": [], "local line": []}
    for _ in range(draws):
        a, b, lengths_a, lengths_b = world.draw(generator)
        result = at_equal_length(a, b, lengths_a, lengths_b)
        line, _ = influence(a - b, lengths_a - lengths_b, np.ones(a.shape))
        for rows, way in zip(estimates.values(), (result.raw, mean_difference(line), result.adjusted), strict=True):
            rows.append((way.mean, way.p))
    return {name: _summary(np.array(rows)) for name, rows in estimates.items()}


def _summary(rows: Floats) -> tuple[float, float, float]:
    return float(np.nanmean(rows[:, 0])), float(np.nanstd(rows[:, 0])), float((rows[:, 1] <= 0.05).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lines = []
    for shape, extra, seeds in product(SCORES, EXTRA, SEEDS):
        by_way = rates(World(seeds, 300, extra, shape), options.draws, options.seed)
        cells = (f"{100 * m:+.2f} (SD {100 * sd:.2f}), {100 * p:.1f}%" for m, sd, p in by_way.values())
        lines.append([shape, str(extra), str(seeds), *cells])
    print_table(["score", "extra tokens", "seeds", "raw", "line", "local line"], lines)


if __name__ == "__main__":
    main()
