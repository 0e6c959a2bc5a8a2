"""How often the card of equal systems carries a claim, all comparisons and criteria together.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.claims

Prints a Markdown table, in % of simulated studies, at a nominal 5%: no system is better than another, but judges may
have preferences of their own, which may cancel among the judges of a study, or one always prefers the first system. All
criteria and pairs are one family, as without `--primary`. A preference that vanishes without one judge is told as such
on the card and does not count. *These judges lean*: their test alone, of which a claim is made only with fewer than
five judges. Marked errors, kinds of errors, the order of systems and strengths are claimed only of pairs in which a
preference is. *Side or length*: a warning of either.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.random import Generator

from calibration.preference import print_table
from human_eval.planning.simulation import FLIPS, claimed, layout_of, sign_flip_p
from human_eval.report.findings import CLEAR
from human_eval.statistics.votes import Floats
from human_eval.study import ERRORS
from rlsum.evaluation.rows import Ints

ALPHA, EACH, BLOCK = 0.05, 3, 50  # level, judges of an item, studies with the same judges of each item
SYSTEMS = {"pair": 2, "strength": 2, "likert-5": 3, "best-worst": 4, "ranking": 3, ERRORS: 2}
CRITERIA = 3
CROWDS = ("alike", "own preferences", "own, which cancel", "one dominant")
CLAIMS = ("these judges lean", "a preference", "side or length", "a preference, side or length")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--judges", type=int, nargs="+", default=[3, 5, 10, 15])
    parser.add_argument("--kinds", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print_table(("answers", "judges", "crowd", *CLAIMS), rows(options))


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    for kind, judges, crowd in product(options.kinds, options.judges, CROWDS):
        generator, counts = np.random.default_rng(options.seed), np.zeros(len(CLAIMS))
        for _ in range(options.studies // BLOCK):
            chosen = [generator.choice(judges, EACH, replace=False) for _ in range(options.items)]
            counts += claims(kind, np.array(chosen), judges, crowd, generator).sum(1)
        yield [
            kind,
            str(judges),
            crowd,
            *(f"{100 * count / (options.studies // BLOCK * BLOCK):.1f}" for count in counts),
        ]


def claims(kind: str, assigned: Ints, judges: int, crowd: str, generator: Generator) -> np.ndarray:
    """Which of the `CLAIMS` the card of each study carries (claims, studies)."""
    votes = drawn(kind, assigned, judges, crowd, generator)
    alike = not layout_of(assigned).refused
    found = claimed(votes, assigned, alike=alike, alpha=ALPHA, generator=generator)
    effects = np.stack([chosen(votes, generator), chosen(votes, generator, per_text=True)])
    side = effects.min((0, 1)) * effects[:, :, 0].size <= CLEAR  # Holm's first step, over both and all criteria
    preferred = found.preferred.any(0)
    return np.stack([found.leaning.any(0), preferred, side, side | preferred])


def drawn(kind: str, assigned: Ints, judges: int, crowd: str, generator: Generator) -> Floats:
    """Votes (comparisons, studies, items, judges of each), pairs of the first criterion first."""
    systems, criteria = SYSTEMS[kind], 1 if kind == ERRORS else CRITERIA
    own = generator.normal(0, 0.4 if crowd.startswith("own") else 0, (BLOCK, judges, systems))
    if crowd == "own, which cancel":
        own -= own[:, assigned].mean((1, 2))[:, None]
    if crowd == "one dominant":
        own[:, 0, 0] = 10
    shape = (BLOCK, *assigned.shape, systems)
    shared = own[:, assigned] + generator.normal(0, 0.5, (BLOCK, len(assigned), 1, systems))
    shared = shared + generator.normal(0, 0.5, shape)
    votes = []
    for _ in range(criteria):
        scores = scored(kind, shared + generator.normal(size=shape), generator)
        gaps = (scores[..., second] - scores[..., first] for first, second in combinations(range(systems), 2))
        votes += [voted(kind, gap) for gap in gaps]
    return np.stack(votes)


def scored(kind: str, worth: Floats, generator: Generator) -> Floats:
    """What texts (..., systems) get that are worth so much to a judge."""
    if kind == "likert-5":
        return np.clip(np.round(3 + worth), 1, 5)
    if kind == "best-worst":
        places = np.arange(worth.shape[-1])
        return (places == worth.argmax(-1)[..., None]) * 1.0 - (places == worth.argmin(-1)[..., None])
    if kind == ERRORS:
        return np.asarray(-generator.poisson(np.exp(0.5 - 0.7 * np.clip(worth, -3, 3))), dtype=np.float64)
    return worth


def voted(kind: str, gap: Floats) -> Floats:
    """Votes in [-1, 1] of judges to whom the second text is worth so much more."""
    if kind in ("pair", "strength"):
        return np.sign(gap) * (abs(gap) >= 0.4) * (1.0 if kind == "pair" else np.where(abs(gap) < 1.5, 0.5, 1.0))
    return gap / {"likert-5": 4, "best-worst": 2}[kind] if kind in ("likert-5", "best-worst") else np.sign(gap)


def chosen(votes: Floats, generator: Generator, per_text: bool = False) -> Floats:
    """P (criteria, studies) of the votes for one side, which is drawn for each vote, or ``per_text`` of each pair."""
    comparisons, studies, items, judges = votes.shape
    sides = generator.choice((-1, 1), (comparisons, studies, items, 1 if per_text else judges))
    criteria = CRITERIA if comparisons % CRITERIA == 0 else 1
    means = (votes * sides).mean(3).reshape(criteria, -1, studies, items).mean(1)
    return np.stack([sign_flip_p(rows, FLIPS, generator) for rows in means])


if __name__ == "__main__":
    main()
