"""Calibrate the test of `rlsum human-eval analyse`: false alarms, coverage and power in simulated studies.

    OMP_NUM_THREADS=1 python scripts/calibration/preference.py

Prints four Markdown tables: how often the sign-flip test and the naive pooled test reject for two equal systems at the
5% level; how often the 95% interval contains the true value; the power at 60/40; and the effect of a control variate.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import binom

from human_eval.planning.simulation import Assumptions, draw_votes, rejections, tested_studies
from human_eval.statistics.control_variate import control_variate
from human_eval.statistics.preference import item_interval

CORRELATIONS = (0.0, 0.1, 0.3, 0.5)
SIZES = ((5, 3), (6, 3), (8, 3), (10, 1), (10, 3), (20, 2), (30, 3), (50, 5), (200, 3), (500, 1))
COVERED = ((5, 3), (10, 3), (30, 3), (100, 3))
USEFUL = (0.0, 0.3, 0.6)  # correlation of a metric with the preference of an item


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000, help="simulated studies for each false alarm rate")
    parser.add_argument("--interval-draws", type=int, default=1_000, help="and for each coverage")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"False alarms at 5%, two-sided, {options.draws:,} studies\n")
    print_table(
        ["items x judges", "ties", *(f"correlation {rho}: sign-flip, naive" for rho in CORRELATIONS)],
        (false_alarms(items, judges, ties, options) for items, judges, ties in designs()),
    )
    print(f"\nCoverage of the 95% interval, {options.interval_draws:,} studies\n")
    preferences = (0.5, 0.6, 0.8, 0.95)
    print_table(
        ["items x judges, correlation .3", *(f"preference {preference}" for preference in preferences)],
        (
            [f"{items} x {judges}", *(coverage(items, judges, preference, options) for preference in preferences)]
            for items, judges in COVERED
        ),
    )
    print(f"\nPower at 60/40, 100 x 3, {options.draws:,} studies\n")
    powers = [rejections(Assumptions(0.6, 0, rho), 100, 3, draws=options.draws) for rho in CORRELATIONS]
    print_table([f"correlation {rho}" for rho in CORRELATIONS], [[f"{100 * power:.1f}%" for power in powers]])
    print(f"\nA control variate, 100 items x 3 judges at 60/40 of 1,000 scored, {options.interval_draws:,} studies\n")
    print_table(
        ["metric's correlation with the item", "mean error", "width", "coverage"],
        (helped(useful, options) for useful in USEFUL),
    )


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


def pooled_p(counts: np.ndarray) -> np.ndarray:
    """P-values (draws,) of the exact binomial test on pooled votes (draws, 3), ties dropped: the naive test."""
    fewer = np.minimum(counts[:, 0], counts[:, 2])
    return np.minimum(1.0, 2 * binom.cdf(fewer, counts[:, 0] + counts[:, 2], 0.5))


def coverage(items: int, judges: int, preference: float, options: argparse.Namespace) -> str:
    votes = draw_votes(
        Assumptions(preference, 0.0, 0.3), items, judges, options.interval_draws, np.random.default_rng(options.seed)
    )
    truth, held = 2 * preference - 1, 0
    for means in (votes[..., 2] - votes[..., 0]) / judges:
        found = item_interval(means, resamples=2_000)
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    return f"{100 * held / len(votes):.1f}%"


def helped(useful: float, options: argparse.Namespace) -> list[str]:
    """Items with a quality difference that judges and metric see; the metric sees it with correlation ``useful``."""
    generator = np.random.default_rng(options.seed)
    errors, widths, held = [], [], 0
    for _ in range(options.interval_draws):
        seen, noise = generator.standard_normal((2, 1_000))
        chance = np.clip(0.6 + 0.25 * seen, 0.0, 1.0)
        truth = float(np.mean(np.clip(0.6 + 0.25 * np.linspace(-3, 3, 10_001), 0, 1) @ _density()))
        means = 2 * generator.binomial(3, chance[:100]) / 3 - 1
        metric = useful * seen + np.sqrt(1 - useful**2) * noise
        found = control_variate(means, metric[:100], metric[100:], resamples=1_000)
        errors.append(found.share - truth)
        widths.append(found.width)
        held += found.low <= truth <= found.high
    error = f"{100 * np.mean(errors):+.2f} ± {100 * np.std(errors) / np.sqrt(len(errors)):.2f} points"
    return [str(useful), error, f"{100 * np.mean(widths):.1f}%", f"{100 * held / options.interval_draws:.1f}%"]


def _density() -> np.ndarray:
    """Weights of the normal distribution at 10,001 points from -3 to 3, tails folded onto the ends."""
    from scipy.stats import norm

    points = np.linspace(-3, 3, 10_001)
    edges = np.concatenate([[-np.inf], (points[1:] + points[:-1]) / 2, [np.inf]])
    return np.diff(norm.cdf(edges))


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
