"""Calibrate the interval of a learned reward's accuracy on held-out votes.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.vote_intervals

Articles and judges shift the log-odds that a vote agrees with the score, with the standard deviations of a world.
Prints a Markdown table: how often 95% intervals contain the accuracy for all articles and judges.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit

from calibration.preference import print_table
from rlsum.metric_fitting.votes import JudgedVote, agreement

# articles, judges, pairs an article, judges a pair, deviation of articles and of judges
WORLDS = (
    (7, 1, 20, 1, 0.5, 0.0), (20, 3, 3, 3, 0.0, 0.0), (20, 3, 3, 3, 0.5, 0.5), (30, 5, 3, 3, 0.5, 0.5),
    (30, 10, 3, 3, 0.5, 0.5), (100, 10, 1, 3, 0.5, 0.5), (100, 5, 1, 3, 0.5, 1.0), (100, 20, 3, 3, 0.5, 0.5),
)  # fmt: skip
LOG_ODDS = 0.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300, help="sets of votes of each world")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    head = ["articles", "judges", "pairs an article", "judges a pair", "sd of articles", "sd of judges", "cover, %"]
    print_table(head, ((*map(str, world), f"{covered(world, options.draws, options.seed):.1f}") for world in WORLDS))


def covered(world: tuple[int, int, int, int, float, float], draws: int, seed: int) -> float:
    """The percentage of ``draws`` whose interval contains the true accuracy."""
    spread = np.random.default_rng(seed).normal(0, np.hypot(*world[4:]), 1_000_000)
    truth = expit(LOG_ODDS + spread).mean()
    intervals = (agreement(*votes(world, np.random.default_rng((seed, draw)))).accuracy for draw in range(draws))
    return 100 * float(np.mean([interval.low <= truth <= interval.high for interval in intervals]))


def votes(
    world: tuple[int, int, int, int, float, float], rng: np.random.Generator
) -> tuple[list[float], list[JudgedVote]]:
    """Differences of scores, and the votes on them."""
    articles, judges, pairs, votes_of_pair, *spreads = world
    article, judge = (rng.normal(0, spread, count) for spread, count in zip(spreads, (articles, judges), strict=True))
    gaps, judged = [], []
    for pair in range(articles * pairs):
        gap, number = rng.normal(), pair % articles
        for name in rng.choice(judges, votes_of_pair, replace=False):
            agrees = rng.random() < expit(LOG_ODDS + article[number] + judge[name])
            choice = int(np.sign(gap)) * (1 if agrees else -1)
            judged.append(JudgedVote(str(number), ("article",), ("one", "another"), str(name), choice))
            gaps.append(gap)
    return gaps, judged


if __name__ == "__main__":
    main()
