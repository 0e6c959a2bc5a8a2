"""What each system got on a scale of its own: mean ratings, ranks and best-worst scores; and how often both are bad.

A score is a description. Which system is better is tested on the differences within one judge's answer, in which the
judge's severity does not occur (see `Votes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from human_eval.answers import BAD
from human_eval.statistics.preference import bounded
from human_eval.study import Pair
from human_eval.votes.votes import Score, Votes
from rlsum.evaluation.statistics import USUAL, Uncertainty


@dataclass(frozen=True)
class SystemScore:
    """The mean value of a system, every item counting once, with its interval (`bounded`); numbers of both."""

    criterion: str
    system: str
    mean: float
    low: float
    high: float
    items: int
    answers: int


def system_scores(scores: Iterable[Score], systems: Sequence[str], how: Uncertainty = USUAL) -> tuple[SystemScore, ...]:
    """The mean of each criterion and system, in the order of the criteria and ``systems``."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    ends: dict[str, tuple[float, float]] = {}
    for score in scores:
        groups.setdefault((score.criterion, score.system), {}).setdefault(score.item, []).append(score.value)
        ends[score.criterion] = score.ends
    return tuple(
        SystemScore(criterion, system, *_mean(groups[criterion, system], *ends[criterion], how))
        for criterion in ends
        for system in systems
        if (criterion, system) in groups
    )


@dataclass(frozen=True)
class BothBad:
    """The share of answers that both texts are bad, every item counting once, with its interval."""

    criterion: str
    pair: Pair
    share: float
    low: float
    high: float
    items: int
    answers: int


def both_bad(votes: Votes, how: Uncertainty = USUAL) -> tuple[BothBad, ...]:
    """One of each criterion that has this answer, and pair."""
    rows = []
    for criterion in votes.criteria:
        possible = any(BAD in part.values for part in votes.kind(criterion).parts(2))
        for pair in votes.pairs if possible else ():
            items: dict[str, list[float]] = {}
            for vote in votes.of(criterion, pair):
                items.setdefault(vote.item, []).append(vote.bad)
            if items:
                rows.append(BothBad(criterion, pair, *_mean(items, 0, 1, how)))
    return tuple(rows)


def _mean(
    items: dict[str, list[float]], least: float, most: float, how: Uncertainty
) -> tuple[float, float, float, int, int]:
    """Mean, interval and numbers of items and answers of values from ``least`` to ``most``."""
    means = np.array([np.mean(values) for _, values in sorted(items.items())])
    middle, half = (most + least) / 2, (most - least) / 2
    low, high = (middle + half * end for end in bounded((means - middle) / half, how))
    return float(means.mean()), low, high, len(means), sum(map(len, items.values()))
