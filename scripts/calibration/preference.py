"""Calibrate the test of `rlsum human-eval analyse`: false alarms and power in simulated studies.

    OMP_NUM_THREADS=1 python scripts/calibration/preference.py

Prints two Markdown tables: how often the sign-flip test and the naive pooled test reject for two equal systems at the
5% level, and the power at 60/40.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.random import Generator
from scipy.stats import binom

from human_eval.planning.simulation import FLIPS, Assumptions, blocks, draw_shares, sign_flip_p
from human_eval.votes.votes import Floats

CORRELATIONS = (0.0, 0.1, 0.3, 0.5)
SIZES = ((5, 3), (6, 3), (8, 3), (10, 1), (10, 3), (20, 2), (30, 3), (50, 5), (200, 3), (500, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000, help="simulated studies for each false alarm rate")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"False alarms at 5%, two-sided, {options.draws:,} studies\n")
    print_table(
        ["items x judges", "ties", *(f"correlation {rho}: sign-flip, naive" for rho in CORRELATIONS)],
        (false_alarms(items, judges, ties, options) for items, judges, ties in designs()),
    )
    print(f"\nPower at 60/40, 100 x 3, {options.draws:,} studies\n")
    powers = [rejections(Assumptions(0.6, 0, rho), 100, 3, draws=options.draws) for rho in CORRELATIONS]
    print_table([f"correlation {rho}" for rho in CORRELATIONS], [[f"{100 * power:.1f}%" for power in powers]])


def designs() -> Iterable[tuple[int, int, float]]:
    yield 100, 3, 0.0
    yield 100, 3, 0.3
    yield from ((items, judges, 0.0) for items, judges in SIZES)


def false_alarms(items: int, judges: int, ties: float, options: argparse.Namespace) -> list[str]:
    cells = []
    for rho in CORRELATIONS:
        assumed = Assumptions(0.5, ties, rho)
        studies = tested_studies(assumed, items, judges, draws=options.draws, seed=options.seed)
        p = np.concatenate([[sign_flip, pooled_p(votes.sum(1))] for votes, sign_flip in studies], axis=1)
        cells.append(", ".join(f"{100 * rejected:.1f}%" for rejected in (p <= 0.05 + 1e-12).mean(1)))
    return [f"{items} x {judges}", f"{ties:.0%}", *cells]


def rejections(assumptions: Assumptions, items: int, judges: int, *, draws: int = 2_000, seed: int = 0) -> float:
    """The share of simulated studies in which the sign-flip test rejects equality: the power; with preference .5 the
    false alarms.
    """
    p = np.concatenate([p for _, p in tested_studies(assumptions, items, judges, draws=draws, seed=seed)])
    return float((p <= 0.05 + 1e-12).mean())


def tested_studies(
    assumptions: Assumptions, items: int, judges: int, *, draws: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of simulated studies: votes (b, items, 3), as `draw_votes` does, and p of the sign-flip test (b,).

    A block shares its random sign flips. Seeded.
    """
    generator = np.random.default_rng(seed)
    for studies in blocks(draws, items):
        votes = draw_votes(assumptions, items, judges, studies, generator)
        yield votes, sign_flip_p((votes[..., 2] - votes[..., 0]) / judges, FLIPS, generator)


def draw_votes(assumptions: Assumptions, items: int, judges: int, draws: int, generator: Generator) -> Floats:
    """Votes for the first system, neither, the second, on each item (draws, items, 3)."""
    shares = draw_shares(assumptions, items, draws, generator)
    return generator.multinomial(judges, shares).astype(np.float64)


def pooled_p(counts: np.ndarray) -> np.ndarray:
    """P-values (draws,) of the exact binomial test on pooled votes (draws, 3), ties dropped: the naive test."""
    fewer = np.minimum(counts[:, 0], counts[:, 2])
    return np.minimum(1.0, 2 * binom.cdf(fewer, counts[:, 0] + counts[:, 2], 0.5))


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
