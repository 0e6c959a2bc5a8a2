"""How often sentences beside the verdicts of a card are wrong: length as a predictor, metrics, other judges.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.sentences

Prints three Markdown tables, in % of simulated studies of two equal systems with votes on three criteria. Crowds are
those of `calibration.claims`.

1. *Length predicts choices better than a judge does*, where both predict equally well (told at 1%).
2. *The scores of a metric correlate with the preferences*, of the best of five useless metrics (told at 1%); and the
   interval of the accuracy of one of them excludes 50%, which the table marks as "of this cell alone" (5%).
3. *Without exclusions*: every fourth vote is of judges who are excluded. Claims of the card, differences that the tests
   detect with all judges, and either. The same holds of judges with too few checks, without whom others are left.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy.stats import t

from calibration.claims import ALPHA, BLOCK, CRITERIA, CROWDS, ahead, assigned_to, drawn, percents
from calibration.preference import print_table
from human_eval.planning.simulation import FLIPS, claimed, layout_of, sign_flip_p
from human_eval.report.findings import CLEAR
from human_eval.votes.votes import Floats
from rlsum.evaluation.rows import Ints
from rlsum.evaluation.statistics import holm

Simulated = Callable[[Ints, int, str, str, Generator], np.ndarray]
METRICS = 5
SHAPES = ("normal", "skewed", "rare")  # of metrics' differences
OUT = ("random", "left", "first")  # what excluded judges choose


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--judges", type=int, nargs="+", default=[6, 10, 15])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print_table(("judges", "crowd", "", "length predicts better"), rows(options, ("",), length))
    print_table(("judges", "crowd", "metrics", "a metric correlates", "a cell"), rows(options, SHAPES, metrics))
    head = ("judges", "crowd", "excluded choose", "a preference", "without exclusions", "either")
    print_table(head, rows(options, OUT, exclusions))


def rows(options: argparse.Namespace, worlds: tuple[str, ...], simulated: Simulated) -> Iterator[list[str]]:
    """A row for each number of judges, crowd and world: in how many studies each sentence is told."""
    for judges, crowd, world in product(options.judges, CROWDS, worlds):
        generator, counts = np.random.default_rng(options.seed), np.zeros(1)
        blocks = options.studies // BLOCK
        for _ in range(blocks):
            counts = counts + simulated(assigned_to(judges, options.items, generator), judges, crowd, world, generator)
        yield [f"{judges}", crowd, world, *percents(counts, blocks * BLOCK)]


def length(assigned: Ints, judges: int, crowd: str, _: str, generator: Generator) -> np.ndarray:
    """How many of `BLOCK` studies tell that length predicts better, where judges like longer texts just so much."""
    votes, longer = liked(assigned, judges, crowd, generator, liking(judges, crowd))
    lefts = generator.choice((-1, 1), votes.shape)
    leads = ahead(votes, longer)
    effects = (*(votes * lefts).mean(3), *(votes * longer).mean(3), *leads)
    p = [sign_flip_p(effect, FLIPS, generator) for effect in effects]
    claims = (holm(np.stack(p)) <= CLEAR)[-CRITERIA:] & (leads.mean(2) > 0)
    return np.array([claims.any(0).sum()])


def liked(assigned: Ints, judges: int, crowd: str, generator: Generator, strength: float) -> tuple[Floats, Floats]:
    """Votes (criteria, studies, items, judges of each) of judges who like longer texts so much, and which is longer."""
    tastes = generator.normal(0, 0.57 if crowd.startswith("own") else 0, (BLOCK, judges))
    if crowd == "own, which cancel":
        tastes -= tastes[:, assigned].mean((1, 2))[:, None]
    if crowd.endswith("one dominant"):
        tastes[:, 0] = -10
    longer = generator.choice((-1, 1), (CRITERIA, BLOCK, len(assigned), 1))
    shape = (BLOCK, *assigned.shape)
    shared = tastes[:, assigned] + generator.normal(0, 0.7, (*shape[:2], 1)) + generator.normal(0, 0.7, shape)
    gap = shared + strength * longer + generator.normal(0, 1.41, (CRITERIA, *shape))
    return np.sign(gap) * (abs(gap) >= 0.4), longer


LIKING: dict[tuple[int, str], float] = {}


def liking(judges: int, crowd: str) -> float:
    """How much judges like longer texts if these are the others' choice as often as a judge's choice is."""
    if (judges, crowd) not in LIKING:
        low, high = 0.0, 3.0
        for _ in range(12):
            middle, generator = (low + high) / 2, np.random.default_rng(1)
            leads = [
                ahead(*liked(assigned_to(judges, 100, generator), judges, crowd, generator, middle)).mean()
                for _ in range(20)
            ]
            low, high = (middle, high) if np.mean(leads) < 0 else (low, middle)
        LIKING[judges, crowd] = low
    return LIKING[judges, crowd]


def metrics(assigned: Ints, judges: int, crowd: str, shape: str, generator: Generator) -> np.ndarray:
    """How many of `BLOCK` studies name a metric on the last criterion, and mark the accuracy of the first one."""
    votes = drawn("pair", assigned, judges, crowd, generator).votes[-1]
    size = (METRICS, BLOCK, len(assigned))
    if shape == "rare":
        scores = (generator.random((2, *size)) < 0.05).astype(float)
    else:
        scores = generator.normal(size=(2, *size)) if shape == "normal" else generator.lognormal(size=(2, *size))
    gaps, means = scores[1] - scores[0], votes.mean(2)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (values - values.mean(-1, keepdims=True) for values in (gaps, means))
        r = (x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
        p = 2 * t.sf(abs(r) * np.sqrt((len(assigned) - 2) / (1 - r**2)), len(assigned) - 2)
    named = (holm(np.where(np.isnan(p), 1, p)) <= CLEAR).any(0)
    cell = sign_flip_p(np.sign(means) * np.sign(gaps[0]), FLIPS, generator) <= ALPHA
    return np.array([named.sum(), cell.sum()])


def exclusions(assigned: Ints, judges: int, crowd: str, choose: str, generator: Generator) -> np.ndarray:
    """How many of `BLOCK` studies make a claim, name a difference without exclusions, or either."""
    votes = drawn("pair", assigned, judges, crowd, generator).votes
    out = judges + generator.permutation(np.arange(len(assigned)) % (1 if choose == "first" else 2))[:, None]
    shape = (*votes.shape[:3], 1)
    sides = generator.choice((-1.0, 1.0), shape[1:])
    others = {"random": generator.choice((-1.0, 0.0, 1.0), shape), "left": np.broadcast_to(sides, shape)}
    more = np.concatenate([votes, others.get(choose, -np.ones(shape))], axis=3)
    claims = [
        claimed(voted, by, alike=not layout_of(by).refused, alpha=ALPHA, generator=generator).preferred.any(0)
        for voted, by in ((votes, assigned), (more, np.concatenate([assigned, out], axis=1)))
    ]
    return np.array([claims[0].sum(), claims[1].sum(), (claims[0] | claims[1]).sum()])


if __name__ == "__main__":
    main()
