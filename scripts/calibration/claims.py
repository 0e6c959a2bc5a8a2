"""How often the card of equal systems carries a claim, all comparisons and criteria together.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.claims

Prints a Markdown table, in % of simulated studies, at a nominal 5%: no system is better than another, but judges may
have preferences of their own, which may cancel among the judges of a study, or one always prefers the first system. All
criteria and pairs are one family, as without `--primary`. A preference that vanishes without one judge is told as such
on the card and does not count. *These judges lean*: their test alone, of which a claim is made only if a plan asks.
*A strength*: the interval of a system in a ranking excludes 0. *Errors*, *a kind*: one system has more marked errors,
or more of a kind. These three are claimed only of pairs in which a preference is. *Side or length*: a warning of
either, or that length predicts choices better than a judge does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from calibration.preference import print_table
from human_eval.answers import KINDS
from human_eval.planning.simulation import FLIPS, claimed, layout_of, sign_flip_p
from human_eval.report.findings import CLEAR
from human_eval.statistics.ranking import ranked
from human_eval.study import ERRORS
from human_eval.votes.votes import Floats, Vote
from rlsum.evaluation.rows import Ints
from rlsum.evaluation.statistics import LEVEL, holm

ALPHA, EACH, BLOCK = 0.05, 3, 50  # level, judges of an item, studies with the same judges of each item
BESIDE = "pair, and errors"
SYSTEMS = {"pair": 2, "pair, three systems": 3, "strength": 2, "likert-5": 3, "best-worst": 4, "ranking": 3}
SYSTEMS |= {ERRORS: 2, BESIDE: 2}
SHARES = (0.4, 0.25, 0.2, 0.1, 0.05)  # of the kinds among marked errors
CRITERIA = 3
CROWDS = ("alike", "own preferences", "own, which cancel", "one dominant", "own, one dominant")
CAMPS = "two camps"  # of judges, who mostly prefer the first of two systems, or the second
CLAIMS = (
    "these judges lean",
    "a preference",
    "a strength",
    "errors",
    "a kind",
    "side or length",
    "a preference, side or length",
)


class Drawn(NamedTuple):
    """Votes (comparisons, studies, items, judges of each), pairs of the first criterion first; marked errors per 100
    words (kinds, studies, items, judges of each), the second system's minus the first's, or None.
    """

    votes: Floats
    errors: Floats | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--judges", type=int, nargs="+", default=[3, 5, 6, 10, 15])
    parser.add_argument("--kinds", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--crowds", nargs="+", default=list(CROWDS), help=f"also {CAMPS!r}")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print_table(("answers", "judges", "crowd", *CLAIMS), rows(options))


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    for kind, judges, crowd in product(options.kinds, options.judges, options.crowds):
        generator, counts = np.random.default_rng(options.seed), np.zeros(len(CLAIMS))
        for _ in range(options.studies // BLOCK):
            counts += claims(kind, assigned_to(judges, options.items, generator), judges, crowd, generator).sum(1)
        yield [kind, f"{judges}", crowd, *percents(counts, options.studies // BLOCK * BLOCK)]


def percents(counts: Floats, studies: int) -> list[str]:
    return [f"{100 * count / studies:.1f}" for count in counts]


def assigned_to(judges: int, items: int, generator: Generator) -> Ints:
    """`EACH` of so many judges for each item (items, `EACH`)."""
    return np.array([generator.choice(judges, EACH, replace=False) for _ in range(items)])


def claims(kind: str, assigned: Ints, judges: int, crowd: str, generator: Generator) -> np.ndarray:
    """Which of the `CLAIMS` the card of each study carries (claims, studies)."""
    votes, errors = drawn(kind, assigned, judges, crowd, generator)
    layout = layout_of(assigned)
    outcome = claimed(votes, assigned, alike=not layout.refused, alpha=ALPHA, generator=generator)
    side, preferred = warned(votes, assigned, generator), outcome.preferred.any(0)
    more, kinds = np.zeros((2, BLOCK), dtype=bool)
    if errors is not None and not layout.refused:
        p = np.stack([layout.p_values(rates.reshape(BLOCK, -1)) for rates in (errors.sum(0), *errors)])
        more = outcome.preferred[-1] & (p[0] <= ALPHA)
        kinds = more & (holm(p[1:]) <= ALPHA).any(0)
    strong = np.zeros(BLOCK, dtype=bool)
    for study in np.flatnonzero(preferred) if SYSTEMS[kind] > 2 else ():
        strong[study] = strengths(kind, votes[:, study], outcome.preferred[:, study], assigned)
    return np.stack([outcome.leaning.any(0), preferred, strong, more, kinds, side, side | preferred])


def strengths(kind: str, votes: Floats, preferred: np.ndarray, assigned: Ints) -> bool:
    """Whether the interval of any system excludes 0 on any criterion, of ``votes`` (comparisons, items, judges)."""
    systems = tuple("abcd"[: SYSTEMS[kind]])
    pairs = list(combinations(systems, 2))
    points, excludes = KINDS[kind].points if kind in KINDS else 0.0, False
    for criterion in range(len(votes) // len(pairs)):
        rows, better = [], []
        for place, pair in enumerate(pairs, criterion * len(pairs)):
            for item, judge in np.ndindex(assigned.shape):
                name, who = f"{item}", f"{assigned[item, judge]}"
                rows.append(Vote("asked", pair, name, name, who, name, votes[place, item, judge], 0))
            if preferred[place]:
                better.append(pair[::-1] if votes[place].mean() > 0 else pair)
        ranking = ranked(rows, systems, points, better=better, level=1 - (1 - LEVEL) / CRITERIA)
        excludes |= any(row.low > 0 or row.high < 0 for row in ranking.systems)
    return excludes


def drawn(kind: str, assigned: Ints, judges: int, crowd: str, generator: Generator) -> Drawn:
    """Answers of the kind about equal systems."""
    systems, criteria = SYSTEMS[kind], 1 if kind == ERRORS else CRITERIA
    tastes = generator.normal(0, 0.4 if crowd.startswith("own") else 0, (BLOCK, judges, systems))
    if crowd == "own, which cancel":
        tastes -= tastes[:, assigned].mean((1, 2))[:, None]
    if crowd == CAMPS:
        tastes[..., :2] = generator.choice((-1, 1), (BLOCK, judges, 1)) * (1, -1)
    if crowd.endswith("one dominant"):
        tastes[:, 0, 0] = 10
    shape = (BLOCK, *assigned.shape, systems)
    shared = tastes[:, assigned] + generator.normal(0, 0.5, (BLOCK, len(assigned), 1, systems))
    shared = shared + generator.normal(0, 0.5, shape)
    votes = []
    for _ in range(0 if kind == ERRORS else criteria):
        scores = scored(kind, shared + generator.normal(size=shape))
        gaps = (scores[..., second] - scores[..., first] for first, second in combinations(range(systems), 2))
        votes += [voted(kind, gap) for gap in gaps]
    if kind not in (ERRORS, BESIDE):
        return Drawn(np.stack(votes), None)
    worth = np.clip(shared + generator.normal(size=shape), -3, 3)
    marks = generator.poisson(np.multiply.outer(SHARES, np.exp(0.5 - 0.7 * worth)))
    rates = 100 * marks / generator.integers(40, 80, (BLOCK, len(assigned), 1, systems))
    fewer = np.sign(marks.sum(0) @ (1, -1)).astype(float)
    return Drawn(np.stack([*votes, fewer]), rates @ (-1, 1))


def scored(kind: str, worth: Floats) -> Floats:
    """What texts (..., systems) get that are worth so much to a judge."""
    if kind == "likert-5":
        return np.clip(np.round(3 + worth), 1, 5)
    if kind == "best-worst":
        places = np.arange(worth.shape[-1])
        return (places == worth.argmax(-1)[..., None]) * 1.0 - (places == worth.argmin(-1)[..., None])
    return worth


def voted(kind: str, gap: Floats) -> Floats:
    """Votes in [-1, 1] of judges to whom the second text is worth so much more."""
    if kind.startswith("pair") or kind == "strength":
        return np.sign(gap) * (abs(gap) >= 0.4) * (np.where(abs(gap) < 1.5, 0.5, 1.0) if kind == "strength" else 1.0)
    return gap / {"likert-5": 4, "best-worst": 2}[kind] if kind in ("likert-5", "best-worst") else np.sign(gap)


def warned(votes: Floats, assigned: Ints, generator: Generator) -> np.ndarray:
    """Whether a warning of sides, length, or length as a predictor is given (studies,): Holm over all and criteria."""
    criteria = CRITERIA if len(votes) % CRITERIA == 0 else 1 if len(votes) == 1 else CRITERIA + 1
    lefts = generator.choice((-1, 1), votes.shape)
    longer = generator.choice((-1, 1), (*votes.shape[:3], 1))
    leads = ahead(votes, longer)
    signs = np.sign(votes)
    means = [(signs * lefts).mean(3), (signs * longer).mean(3), leads]
    p = np.concatenate(
        [[sign_flip_p(rows, FLIPS, generator) for rows in by_criterion(effects, criteria)] for effects in means]
    )
    warnings = holm(p) <= CLEAR
    warnings[-criteria:] &= by_criterion(leads, criteria).mean(2) > 0
    return np.asarray(warnings.any(0))


def by_criterion(means: Floats, criteria: int) -> Floats:
    """The mean over the pairs of each criterion (criteria, studies, items)."""
    return np.asarray(means.reshape(criteria, -1, *means.shape[1:]).mean(1))


def ahead(votes: Floats, longer: Floats) -> Floats:
    """How much more often length than a judge chooses as the others do (comparisons, studies, items), as
    `human_eval.statistics.metrics.length_lead` has it.
    """
    others = np.sign(votes.sum(3, keepdims=True) - votes)
    return np.asarray((others * (longer - np.sign(votes)) / 2).mean(3))


if __name__ == "__main__":
    main()
