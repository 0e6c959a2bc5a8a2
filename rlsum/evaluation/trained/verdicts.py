"""What differences of systems allow to say: a word for each test of a family, and which system is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA, holm
from rlsum.evaluation.trained.hierarchical import Difference, compare_systems, p_no_worse

ENOUGH = 0.9  # the least share of the articles on which a verdict may rest: scores are not missing at random

Word = Literal["better", "worse", "no worse", "no difference shown", "no verdict"]


@dataclass(frozen=True)
class Best:
    """The system with the highest mean, those that are not distinguishable from it, and the others, in the order given.

    ``seeds``: the number that entered; one allows no verdict, so that all others are tied. ``apart``: systems that are
    not judged, with the reason. ``best`` is "" where no system has a mean.
    """

    best: str
    tied: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    seeds: int = 0
    apart: dict[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> bool:
        """Whether the best is distinguishable from every other; only then a table marks it."""
        return bool(self.differing) and not self.tied


@dataclass(frozen=True)
class Verdict:
    """What the differences of one system from its opponents say together.

    ``decisive``: the place of the difference that decides. ``p``: that of the claim, or where nothing is claimed of the
    closest one, after Holm's correction; NaN without a verdict.
    """

    word: Word
    decisive: int
    p: float


def verdicts(
    systems: Sequence[Sequence[Difference]], alpha: float = ALPHA, margin: float | None = None, family: int = 0
) -> list[Verdict]:
    """What the differences of each of several systems from its opponents say at level ``alpha``.

    "better": above every opponent. Its p is the largest of the system's (an intersection-union test; Berger 1982),
    after Holm's correction for the systems. "worse": below any opponent, after Holm's correction for all tests. As the
    tests are two-sided, both claims together are wrong in at most ``alpha`` of the families. "no worse": neither, and
    a loss of ``margin`` is ruled out against every opponent (one-sided, Holm's correction for the systems). "no
    verdict": no p, or one seed, whose p is about two models and not about what they were trained on. Nothing here says
    "equal". ``family``: of how many systems these were planned to be; others count as if nothing were shown of them.
    """
    unknown = [
        not tests or any(difference.seeds < 2 or np.isnan(difference.p) for difference in tests) for tests in systems
    ]
    judged = [tests for tests, without in zip(systems, unknown, strict=True) if not without]
    others = max(0, family - len(judged))

    def adjusted_for_all(p_values: Sequence[float], tests: int = 1) -> Floats:
        return holm([*p_values, *[1.0] * (others * tests)])[: len(p_values)]

    above = adjusted_for_all(
        [max(difference.p if difference.mean > 0 else 1.0 for difference in tests) for tests in judged]
    )
    opponents = max(map(len, systems), default=1)
    adjusted = iter(adjusted_for_all([difference.p for tests in judged for difference in tests], opponents))
    below = [[next(adjusted) for _ in tests] for tests in judged]
    held = [1.0] * len(judged)
    if margin is not None:
        losses = [
            float(np.max([p_no_worse(difference.components, margin) for difference in tests])) for tests in judged
        ]
        held = list(adjusted_for_all(losses))
    claims = (_claim(*family, alpha) for family in zip(judged, above, below, held, strict=True))
    nothing = (Verdict("no verdict", _closest(tests), float("nan")) for tests in systems)
    return [none if without else next(claims) for none, without in zip(nothing, unknown, strict=True)]


def _claim(tests: Sequence[Difference], above: float, below: Sequence[float], held: float, alpha: float) -> Verdict:
    harm = [place for place, difference in enumerate(tests) if difference.mean < 0 and below[place] <= alpha]
    if harm:
        worst = min(harm, key=lambda place: below[place])
        return Verdict("worse", worst, float(below[worst]))
    closest = _closest(tests)
    if above <= alpha:
        return Verdict("better", closest, float(above))
    if held <= alpha:
        return Verdict("no worse", closest, float(held))
    return Verdict("no difference shown", closest, float(above if tests[closest].mean > 0 else below[closest]))


def _closest(tests: Sequence[Difference]) -> int:
    """The difference that a claim of being better has against it most: the lowest mean below 0, else the largest p."""
    return min(range(len(tests)), key=lambda place: (min(tests[place].mean, 0), -tests[place].p), default=0)


def verdict(difference: Difference, alpha: float = ALPHA) -> Word:
    """What one difference of a family of tests says, by ``p_holm`` where it is defined, otherwise by ``p``."""
    p = difference.p if np.isnan(difference.p_holm) else difference.p_holm
    if np.isnan(p) or difference.seeds < 2:
        return "no verdict"
    if p <= alpha and difference.mean != 0:
        return "better" if difference.mean > 0 else "worse"
    return "no difference shown"


def best_of(systems: Mapping[str, Floats]) -> Best:
    """The best of ``systems``, name -> scores (seeds, articles) of one metric; one row is a system without seeds.

    All pairs are one family (Holm): the best is chosen from the data, so a test against it alone would use them twice.
    A system that lacks a seed, or more than a tenth of its scores, is not judged: its mean is one of other trainings or
    articles. Means are over the articles that are defined in all judged systems and seeds. An unknown p leaves a system
    tied.
    """
    apart = {name: why for name, scores in systems.items() if (why := unjudged(scores))}
    judged = {name: scores for name, scores in systems.items() if name not in apart}
    if not judged:
        return Best("", apart=apart)
    shared = ~np.any([np.isnan(scores).any(axis=0) for scores in judged.values()], axis=0)
    if shared.mean() < ENOUGH:
        why = f"all have scores on {shared.sum()} of {len(shared)} articles"
        return Best("", apart={**apart, **dict.fromkeys(judged, why)})
    complete = {name: scores[:, shared] for name, scores in judged.items()}
    best = max(complete, key=lambda name: float(complete[name].mean()))
    others = [name for name in complete if name != best]
    seeds = max(map(len, complete.values()))
    pairs = list(combinations(complete, 2)) if seeds > 1 else []
    p_values = holm([compare_systems(complete[left], complete[right]).p for left, right in pairs])
    shown = {frozenset(pair) for pair, p in zip(pairs, p_values, strict=True) if p <= ALPHA}
    differing = tuple(name for name in others if frozenset((best, name)) in shown)
    return Best(best, tuple(name for name in others if name not in differing), differing, seeds, apart)


def unjudged(scores: Floats) -> str:
    """Why no verdict may rest on scores (seeds, articles); "" if one may."""
    seeds = int((~np.isnan(scores).all(axis=1)).sum())
    if seeds < len(scores):
        return f"{seeds} of {len(scores)} seeds"
    defined = int((~np.isnan(scores).any(axis=0)).sum())
    articles = scores.shape[1]
    return "" if defined >= ENOUGH * articles and articles else f"scores on {defined:,} of {articles:,} articles"
