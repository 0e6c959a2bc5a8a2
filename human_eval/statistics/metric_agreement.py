"""Does a metric choose as people do? Accuracy of its choices, beside length alone and a single judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from human_eval.statistics.metric_scores import MetricScores, difference
from human_eval.statistics.preference import Preference, preference
from human_eval.statistics.votes import Pair, Vote, matrix
from rlsum.evaluation.rows import Ids
from rlsum.evaluation.statistics import RESAMPLES

LENGTH, JUDGE = "length (words)", "one judge against the others"


def accuracy(
    people: Sequence[float],
    metric: Sequence[float],
    *,
    items: Ids | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Preference:
    """How often the signs of ``people`` (n,) and ``metric`` (n,), preferences for the second text, are the same.

    ``share`` is the accuracy, .5 being chance, with its interval by item and the test against chance. Where people are
    tied there is no right answer: such comparisons are left out. Where the metric is tied it gets half. NaN of the
    metric is left out. ``first`` counts wrong choices, ``tied`` those of no choice, ``second`` right ones.
    """
    choice, truth = np.sign(np.asarray(metric, dtype=float)), np.sign(np.asarray(people, dtype=float))
    agreed = np.where(truth == 0, np.nan, choice * truth)
    return preference(agreed[:, None], items=items, resamples=resamples, seed=seed)


def metric_agreements(
    votes: Sequence[Vote], scores: MetricScores | None, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Preference]:
    """Name -> accuracy against the mean vote of each comparison: every metric, the longer text, and a single judge.

    The judge is held against the mean of the others, one judge fewer than the metrics are.
    """
    rows = _comparisons(votes)
    means = {row: float(np.mean([vote.preference for vote in cast])) for row, cast in rows.items()}
    people, items = list(means.values()), [item for _, item, _ in means]
    chosen: dict[str, Sequence[float]] = {
        metric: [float(difference(by_system, pair, [item])[0]) for pair, item, _ in means]
        for metric, by_system in (scores or {}).items()
    }
    chosen[LENGTH] = [cast[0].longer for cast in rows.values()]
    found = {
        name: accuracy(people, choice, items=items, resamples=resamples, seed=seed) for name, choice in chosen.items()
    }
    found[JUDGE] = _judge_accuracy(votes, resamples, seed)
    return found


def _comparisons(votes: Sequence[Vote]) -> Mapping[tuple[Pair, str, str], list[Vote]]:
    rows: dict[tuple[Pair, str, str], list[Vote]] = {}
    for vote in sorted(votes, key=lambda vote: (vote.pair, vote.item, vote.comparison, vote.judge)):
        rows.setdefault((vote.pair, vote.item, vote.comparison), []).append(vote)
    return rows


def _judge_accuracy(votes: Sequence[Vote], resamples: int, seed: int) -> Preference:
    judged = matrix(votes)
    given = ~np.isnan(judged.values)
    filled = np.where(given, judged.values, 0.0)
    others = np.where(given, np.sign(filled.sum(1, keepdims=True) - filled), np.nan)
    agreed = np.where(others == 0, np.nan, judged.values * others)
    return preference(agreed, items=judged.items, resamples=resamples, seed=seed)
