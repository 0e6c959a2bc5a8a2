"""Compare ways to compare two systems at equal length, where the score depends on length alone.

    OMP_NUM_THREADS=1 python scripts/calibration/equal_length.py

Both systems score the same function of the length of their summary, and an article is hard for both: at equal length
there is no difference. One system writes longer summaries. Prints the mean estimate, which should be 0, its standard
deviation, and how often a test at 5% calls the systems different, for the raw difference, the regression of
`rlsum.evaluation.trained.equal_length`, and the pairs whose lengths differ by at most 3 tokens.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.equal_length import at_equal_length
from rlsum.evaluation.trained.hierarchical import mean_difference

BAND = 3


@dataclass(frozen=True)
class World:
    """Seeds, articles, extra tokens of the first system, curvature of the score, seed effect (SD, raw)."""

    seeds: int
    articles: int
    extra: float
    curvature: float = 0.0
    seed: float = 0.01

    def draw(self, generator: Generator) -> tuple[Floats, Floats, Floats, Floats]:
        """Scores and lengths of both systems, each (seeds, articles)."""
        shape = (self.seeds, self.articles)
        long, hard = generator.normal(0, 4, self.articles), generator.normal(0, 0.05, self.articles)
        lengths = [55 + extra + long + generator.normal(0, 8, shape) for extra in (self.extra, 0.0)]
        scores = [
            0.004 * each - self.curvature * (each - 55) ** 2 + hard + generator.normal(0, 0.08, shape)
            for each in lengths
        ]
        scores[0] += generator.normal(0, self.seed, (self.seeds, 1))
        return scores[0], scores[1], lengths[0], lengths[1]


def rates(world: World, draws: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Way -> mean, standard deviation and share of false alarms over ``draws`` comparisons."""
    generator = np.random.default_rng(seed)
    found: dict[str, list[tuple[float, float]]] = {"raw": [], "regression": [], "about equal": []}
    for _ in range(draws):
        a, b, lengths_a, lengths_b = world.draw(generator)
        result = at_equal_length(a, b, lengths_a, lengths_b)
        near = np.where(np.abs(lengths_a - lengths_b) <= BAND, a - b, np.nan).ravel()  # pairs as if independent
        ways = (result.raw, result.adjusted, mean_difference(near[None]))
        for name, way in zip(found, ways, strict=True):
            found[name].append((way.mean, way.p))
    return {
        name: (float(np.nanmean(means)), float(np.nanstd(means)), float(np.nanmean(np.array(ps) <= 0.05)))
        for name, rows in found.items()
        for means, ps in [tuple(zip(*rows, strict=True))]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = ("raw", "regression", "about equal")
    print(f"| seeds | extra tokens | curvature | {' | '.join(names)} |\n|{' --: |' * 6}")
    for seeds in (2, 3, 5):
        for extra, curvature in ((0, 0.0), (4, 0.0), (8, 0.0), (8, 4e-5)):
            found = rates(World(seeds, 300, extra, curvature), options.draws, options.seed)
            cells = [f"{100 * m:+.2f} (SD {100 * sd:.2f}), {100 * p:.1f}%" for m, sd, p in found.values()]
            print(f"| {seeds} | {extra} | {curvature:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
