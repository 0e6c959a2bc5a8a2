"""How often does a comparison of equal systems claim something, and how often does it show a true gain?

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.verdicts

Start, control and rewards are equal in expectation: every "better", "worse" or "no worse" is false, and so is every
metric that "fell" and every system that "differs from the best". Scores are drawn in several shapes, with a seed effect
of each system. Prints Markdown: the share of comparisons with a false claim, for each number of seeds the lowest and
highest over shapes and numbers of articles, beside what the same tests would claim one by one at 5%, and articles alone
with one seed; then the power of the verdict as planned and as simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.random import Generator

from calibration.preference import print_table
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA, with_holm
from rlsum.evaluation.trained.hierarchical import compare_systems, p_no_worse
from rlsum.evaluation.trained.power import DEFAULTS, Family, Variances, power
from rlsum.evaluation.trained.verdicts import best_of, verdict, verdicts

SEEDS, ARTICLES, SYSTEMS = (1, 2, 3, 5), (50, 200, 1000), (2, 8)
OF_SEED, MARGIN, FURTHER = 0.02, 0.01, 3  # FURTHER: metrics besides the reward


def normal(effect: Floats, hard: Floats, generator: Generator) -> Floats:
    """Scores around .4 with SD .1."""
    return 0.4 + effect + 0.1 * hard + generator.normal(0, 0.1, np.broadcast_shapes(effect.shape, hard.shape))


def skewed(effect: Floats, hard: Floats, generator: Generator) -> Floats:
    """Exponential noise."""
    return effect + 0.1 * hard + generator.exponential(0.1, np.broadcast_shapes(effect.shape, hard.shape))


def bounded(effect: Floats, hard: Floats, generator: Generator) -> Floats:
    """Cut to [0, 1], near the lower end, as ROUGE-2 is."""
    return np.clip(normal(effect, hard, generator) - 0.35, 0, 1)


def tied(effect: Floats, hard: Floats, generator: Generator) -> Floats:
    """In steps of .1."""
    return np.round(normal(effect, hard, generator), 1)


def zero_one(effect: Floats, hard: Floats, generator: Generator) -> Floats:
    """0 or 1, seldom 1."""
    return (normal(effect, hard, generator) > 0.65).astype(float)


SHAPES = (normal, skewed, bounded, tied, zero_one)


def world(shape: Callable[..., Floats], seeds: int, articles: int, systems: int, generator: Generator) -> list[Floats]:
    """Scores (seeds, articles) of start, control and ``systems`` rewards, all equal in expectation."""
    hard = generator.standard_normal((1, articles))
    return [shape(generator.normal(0, OF_SEED, (seeds, 1)), hard, generator) for _ in range(systems + 2)]


CLAIMS = ("better or worse", "loses less than the margin", "another metric fell", "differs from the best")


def false_claims(scores: Sequence[Floats], others: Sequence[Sequence[Floats]]) -> tuple[list[bool], list[bool]]:
    """Whether a comparison of equal systems makes a claim of each kind: as its page does, and by tests one by one.

    ``others``: the systems' scores by further metrics. "Loses less": where each system loses the whole margin.
    """
    start, control, *rewards = scores
    tests = [[compare_systems(reward, opponent) for opponent in (start, control)] for reward in rewards]
    lost = [[compare_systems(reward - MARGIN, opponent) for opponent in (start, control)] for reward in rewards]
    falls = [compare_systems(reward, metric[0]) for metric in others for reward in metric[2:]]
    best = best_of({str(number): system for number, system in enumerate(scores)})
    on_page = [
        any(claim.word in ("better", "worse") for claim in verdicts(tests)),
        any(claim.word == "no worse" for claim in verdicts(lost, margin=MARGIN)),
        any(verdict(test) == "worse" for test in with_holm(falls)),
        bool(best.differing),
    ]
    top = max(scores, key=np.mean)
    alone = [
        any(test.p <= ALPHA for of_system in tests for test in of_system),
        any(all(p_no_worse(test.components, MARGIN) <= ALPHA for test in of_system) for of_system in lost),
        any(test.mean < 0 and test.p <= ALPHA for test in falls),
        any(compare_systems(top, system).p <= ALPHA for system in scores if system is not top),
    ]
    return on_page, alone


def simulated_power(
    gain: float, variances: Variances, seeds: int, articles: int, family: Family, draws: int, seed: int
) -> float:
    """The share of comparisons in which the reward that gains is called better than start and control."""
    generator = np.random.default_rng(seed)
    shown = 0
    for _ in range(draws):
        scores = [
            generator.normal(0, np.sqrt(variances.seed / 2), (seeds, 1))
            + generator.normal(0, np.sqrt(variances.article / 2), (1, articles))
            + generator.normal(0, np.sqrt(variances.residual / 2), (seeds, articles))
            for _ in range(2 + family.rewards)
        ]
        scores[-1] += gain
        tests = [[compare_systems(reward, opponent) for opponent in scores[:2]] for reward in scores[2:]]
        shown += verdicts(tests)[-1].word == "better"
    return shown / draws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300, help="simulated comparisons of each world")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for seeds, systems in product(SEEDS, SYSTEMS):
        rates = []
        for shape, articles in product(SHAPES, ARTICLES):
            generator = np.random.default_rng(options.seed)
            drawn = (
                [world(shape, seeds, articles, systems, generator) for _ in range(1 + FURTHER)]
                for _ in range(options.draws)
            )
            rates.append(100 * np.mean([false_claims(scores, others) for scores, *others in drawn], axis=0))
        on_page, alone = (
            [f"{low:.1f} to {high:.1f}" for low, high in zip(lowest, highest, strict=True)]
            for lowest, highest in zip(np.min(rates, 0), np.max(rates, 0), strict=True)
        )
        cells = (f"{page} ({single})" for page, single in zip(on_page, alone, strict=True))
        rows.append([str(seeds), str(systems), *cells])
    print(f"False claims, % of comparisons (by tests one by one); {options.draws} of each world\n")
    print_table(["seeds", "rewards", *CLAIMS], rows)
    print("\nPower of the verdict for a gain of 2 points: planned, simulated\n")
    lines = []
    for seeds, rewards in product((2, 3, 5), (1, 3, 6)):
        family = Family(rewards, 2)
        planned = power(0.02, DEFAULTS, seeds, 800, family)
        simulated = simulated_power(0.02, DEFAULTS, seeds, 800, family, options.draws, options.seed)
        lines.append([str(seeds), str(rewards), f"{planned:.0%}", f"{simulated:.0%}"])
    print_table(["seeds", "rewards", "planned", "simulated"], lines)


if __name__ == "__main__":
    main()
