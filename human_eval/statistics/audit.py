"""What may have moved the votes beside the systems: the side a text was shown on, its length, and single judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from human_eval.statistics.exclusion import median_seconds
from human_eval.statistics.preference import Preference, item_means, preference
from human_eval.statistics.votes import Pair, Vote, Votes, matrix
from rlsum.evaluation.statistics import RESAMPLES


def order_effect(votes: Sequence[Vote], *, resamples: int = RESAMPLES, seed: int = 0) -> Preference:
    """The share of the text on the left, as `preference` has that of the second system; .5 is no effect.

    Votes of which nobody knows the sides are left out. ``first`` counts votes for the right, ``second`` for the left.
    """
    judged = matrix([vote for vote in votes if vote.left is not None], lambda vote: vote.chose_left)
    found = preference(judged.values, items=judged.items, resamples=resamples, seed=seed)
    return found if found.items else replace(found, reason="sides are not known")


def length_effect(votes: Sequence[Vote], *, resamples: int = RESAMPLES, seed: int = 0) -> Preference:
    """The share of the longer text in words; pairs of one length are left out. A better system may be the longer one:
    this is an association, not a cause.

    ``first`` counts votes for the shorter text, ``second`` for the longer.
    """
    judged = matrix([vote for vote in votes if vote.longer], lambda vote: vote.preference * vote.longer)
    return preference(judged.values, items=judged.items, resamples=resamples, seed=seed)


@dataclass(frozen=True)
class JudgeAudit:
    """One judge against the rest.

    ``tasks`` judged; ``agreement``: the share of the other judges' votes on the same comparisons that are the same
    (NaN where nobody else judged them); ``left``: the share of the text on the left and ``tied``: of no difference;
    ``seconds``: the median time of a task; ``failed`` of ``checks``; ``without``: the share of the second system on
    the criterion asked for when this judge, too, is left out, by pair.
    """

    judge: str
    tasks: int
    agreement: float
    left: float
    tied: float
    seconds: float
    failed: int
    checks: int
    without: dict[Pair, float]


def judge_effects(votes: Votes, kept: Votes, criterion: str) -> tuple[JudgeAudit, ...]:
    """Every judge of ``votes`` against the rest, by name; ``without`` is about ``criterion`` in the votes ``kept``."""
    agreement = _agreement_with_rest(votes)
    found = []
    for judge in votes.judges:
        own = [row for row in votes.rows if row.judge == judge]
        checks = [check for check in votes.checks if check.judge == judge]
        rest = kept.without([judge])
        found.append(
            JudgeAudit(
                judge=judge,
                tasks=len({row.task for row in own}),
                agreement=agreement.get(judge, float("nan")),
                left=(1 + _mean([row.chose_left for row in own if row.left is not None])) / 2,
                tied=_mean([row.preference == 0 for row in own]),
                seconds=median_seconds(own),
                failed=sum(check.failed for check in checks),
                checks=len(checks),
                without={pair: share(rest.of(criterion, pair), rest.same_items(pair)) for pair in votes.pairs},
            )
        )
    return tuple(found)


def share(votes: Sequence[Vote], same: int = 0) -> float:
    """The share of the second system, items equally weighted, ties half; NaN without votes."""
    judged = matrix(votes)
    means = np.concatenate([item_means(judged.values, judged.items), np.zeros(same)])
    return float((1 + means.mean()) / 2) if len(means) else float("nan")


def _agreement_with_rest(votes: Votes) -> dict[str, float]:
    agreed: dict[str, list[float]] = {}
    for criterion in votes.criteria:
        for pair in votes.pairs:
            judged = matrix(votes.of(criterion, pair))
            for row in judged.values:
                for place in np.flatnonzero(~np.isnan(row)):
                    others = np.delete(row, place)
                    others = others[~np.isnan(others)]
                    agreed.setdefault(judged.judges[place], []).extend(others == row[place])
    return {judge: _mean(same) for judge, same in agreed.items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
