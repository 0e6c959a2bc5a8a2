"""What differences of systems allow to say: verdicts in words, families of tests, which system is the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import with_holm
from rlsum.evaluation.trained.hierarchical import Difference, compare_systems, p_no_worse

ALPHA = 0.05

Word = Literal["better", "worse", "no worse", "no difference shown", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """One word about a difference. ``margin``: how much worse would still be "no worse"; None without one."""

    word: Word
    margin: float | None = None

    def __str__(self) -> str:
        return f"no worse than by {self.margin:g}" if self.word == "no worse" else self.word


@dataclass(frozen=True)
class Best:
    """The system with the highest mean, those that are not distinguishable from it, and the others, in the order given.

    ``shown``: whether the best is distinguishable from every other; only then a table marks it. ``best`` is "" where
    no system has a mean.
    """

    best: str
    tied: tuple[str, ...]
    differing: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """True where the best may be marked."""
        return bool(self.best) and not self.tied


def verdict(difference: Difference, alpha: float = ALPHA, margin: float | None = None) -> Verdict:
    """What a difference says at level ``alpha``, by ``p_holm`` where it is defined, otherwise by ``p``.

    "better" and "worse": two-sided test. "no worse": not shown to be different, and the one-sided test against
    ``-margin`` rejects at ``alpha`` (not adjusted). "unknown": no p. Nothing here says "equal".
    """
    p = difference.p if np.isnan(difference.p_holm) else difference.p_holm
    if np.isnan(p):
        return Verdict("unknown")
    if p <= alpha and difference.mean != 0:
        return Verdict("better" if difference.mean > 0 else "worse")
    if margin is not None and p_no_worse(difference.components, margin) <= alpha:
        return Verdict("no worse", margin)
    return Verdict("no difference shown")


def best_of(systems: Mapping[str, Floats], alpha: float = ALPHA) -> Best:
    """The best of ``systems``, name -> scores (seeds, articles) of one metric; one row is a system without seeds.

    Means are over the articles that are defined in all systems and seeds, so that the order of the means is that of
    the differences. The tests against the best are one family (Holm); an unknown p leaves a system tied.
    """
    known = {name: scores for name, scores in systems.items() if not np.isnan(scores).all()}
    if not known:
        return Best("", ())
    measured = [scores[~np.isnan(scores).all(axis=1)] for scores in known.values()]  # the seeds with any score
    shared = ~np.any([np.isnan(scores).any(axis=0) for scores in measured], axis=0)
    if not shared.any():
        return Best("", ())
    complete = {name: scores[:, shared] for name, scores in known.items()}
    best = max(complete, key=lambda name: float(np.nanmean(complete[name])))
    others = [name for name in complete if name != best]
    tests = with_holm(compare_systems(complete[best], complete[name]) for name in others)
    differing = tuple(name for name, test in zip(others, tests, strict=True) if test.p_holm <= alpha)
    return Best(best, tuple(name for name in others if name not in differing), differing)
