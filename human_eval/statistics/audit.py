"""Other influences on the votes: the side of a text, its length, and single judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from human_eval.statistics.preference import Preference, item_means, preference
from human_eval.study import Pair
from human_eval.votes.exclusion import median_seconds
from human_eval.votes.votes import Floats, Vote, Votes, matrix
from rlsum.evaluation.statistics import USUAL, Uncertainty

CHANCE = 0.001


def order_effect(votes: Sequence[Vote], how: Uncertainty = USUAL) -> Preference:
    """The share of votes for the text on the left, as a `Preference`; .5 is no effect.

    Votes with unknown sides are left out. ``first`` counts votes for the right, ``second`` for the left.
    """
    judged = matrix([vote for vote in votes if vote.left is not None], lambda vote: vote.chose_left)
    effect = preference(judged.values, items=judged.items, how=how)
    return effect if effect.items else replace(effect, reason="sides are not known")


def on_the_left(votes: Sequence[Vote], pair: Pair) -> float:
    """The share of votes on ``pair`` for which its second system was on the left; NaN where sides are not known."""
    return _mean([vote.left == pair[1] for vote in votes if vote.pair == pair and vote.left is not None])


def length_effect(votes: Sequence[Vote], how: Uncertainty = USUAL) -> Preference:
    """The share of votes for the text with more words; pairs of equal length are left out.

    This is an association, not a cause: the better system may write longer texts. ``first`` counts votes for the
    shorter text, ``second`` for the longer.
    """
    judged = matrix([vote for vote in votes if vote.longer], lambda vote: vote.sign * vote.longer)
    return preference(judged.values, items=judged.items, how=how)


@dataclass(frozen=True)
class JudgeAudit:
    """One judge compared with the others.

    ``tasks``: number judged; ``agreement``: share of other judges' votes on the same comparisons that are equal, NaN
    without any; ``left`` and ``tied``: shares of votes for the left text and for no difference; ``seconds``: median
    time per task; ``failed`` of ``checks``; by pair, ``own``: share of the second system among this judge's votes, and
    ``without``: that share without this judge.
    """

    judge: str
    tasks: int
    agreement: float
    left: float
    tied: float
    seconds: float
    failed: int
    checks: int
    own: dict[Pair, float]
    without: dict[Pair, float]


def judge_effects(votes: Votes, kept: Votes, criterion: str) -> tuple[JudgeAudit, ...]:
    """Every judge of ``votes``, by name. ``own`` and ``without`` are on ``criterion``, ``without`` among ``kept``."""
    agreement = _agreement_with_rest(votes)
    audits = []
    for judge in votes.judges:
        rows = [row for row in votes.rows if row.judge == judge]
        checks = [check for check in votes.checks if check.judge == judge]
        rest = kept.without([judge])
        audits.append(
            JudgeAudit(
                judge=judge,
                tasks=len({row.task for row in rows}),
                agreement=agreement.get(judge, float("nan")),
                left=(1 + _mean([row.chose_left for row in rows if row.left is not None])) / 2,
                tied=_mean([row.preference == 0 for row in rows]),
                seconds=median_seconds(rows),
                failed=sum(check.failed for check in checks),
                checks=len(checks),
                own={pair: own_shares(votes, criterion, pair).get(judge, float("nan")) for pair in votes.pairs},
                without={pair: share(rest.of(criterion, pair), rest.same_items(pair)) for pair in votes.pairs},
            )
        )
    return tuple(audits)


def copies(votes: Votes) -> list[tuple[str, str, int, int]]:
    """Pairs of judges who may have copied: both names, the number of items with equal answers, and of items of both.

    At most one item, or a tenth of them, differs, and chance would hardly do this.

    ``CHANCE``: the largest probability of any such pair, if two judges agree on an item as often as judges do here;
    answers on one item are not independent.
    """
    by_judge: dict[str, dict[str, set[tuple[str, Pair, str, float]]]] = {}
    for row in votes.rows:
        answers = by_judge.setdefault(row.judge, {}).setdefault(row.item, set())
        answers.add((row.criterion, row.pair, row.comparison, row.preference))
    counts = {}
    for first, second in combinations(sorted(by_judge), 2):
        common = by_judge[first].keys() & by_judge[second].keys()
        counts[first, second] = sum(by_judge[first][item] == by_judge[second][item] for item in common), len(common)
    agreed = sum(same for same, _ in counts.values()) / max(1, sum(n for _, n in counts.values()))
    most = CHANCE / max(1, len(counts))
    return [
        (*pair, same, n)
        for pair, (same, n) in counts.items()
        if n - same <= max(1, n // 10) and _luck(same, n, agreed) < most
    ]


def _luck(same: int, n: int, agreed: float) -> float:
    """The probability of agreeing on ``same`` items of ``n``, or on more."""
    return sum(math.comb(n, k) * agreed**k * (1 - agreed) ** (n - k) for k in range(same, n + 1))


def share(votes: Sequence[Vote], same: int = 0) -> float:
    """The share of the second system, with equal weight for items and ties as half votes; NaN without votes."""
    judged = matrix(votes)
    return (1 + _mean(item_means(judged.values, judged.items, same))) / 2


def own_shares(votes: Votes, criterion: str, pair: Pair) -> dict[str, float]:
    """Judge -> the share of the second system among the judge's own votes, with ties as half votes."""
    judged = matrix(votes.of(criterion, pair))
    if not judged.values.size:
        return {}
    return dict(zip(judged.judges, ((1 + np.nanmean(judged.values, axis=0)) / 2).tolist(), strict=True))


def _agreement_with_rest(votes: Votes) -> dict[str, float]:
    agreed: dict[str, list[float]] = {}
    for criterion in votes.criteria:
        for pair in votes.pairs:
            judged = matrix(votes.of(criterion, pair))
            for row in judged.values:
                for column in np.flatnonzero(~np.isnan(row)):
                    others = np.delete(row, column)
                    others = others[~np.isnan(others)]
                    agreed.setdefault(judged.judges[column], []).extend(np.sign(others) == np.sign(row[column]))
    return {judge: _mean(same) for judge, same in agreed.items()}


def _mean(values: Sequence[float] | Floats) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
