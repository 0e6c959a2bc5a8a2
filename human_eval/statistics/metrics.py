"""Metrics against people: scores from files, and how often a metric, length or a single judge chooses as people do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from human_eval.design.giveaways import in_print
from human_eval.formatting import letters
from human_eval.statistics.preference import Preference, bounded, item_means, preference
from human_eval.study import Pair
from human_eval.votes.votes import Floats, Vote, VoteMatrix, matrix
from rlsum.errors import RecordError
from rlsum.evaluation.rows import Ids
from rlsum.evaluation.statistics import USUAL, Uncertainty, paired_difference
from rlsum.records import Output, read_outputs

OTHERS = 0.1  # share of judged texts that `build --clean` may have changed beyond punctuation
LENGTH, JUDGE = "length (words)", "one judge against the others"


@dataclass(frozen=True)
class Lead:
    """How much more often the longer text is the choice of the other judges than one judge's choice is.

    ``lead``: difference of the two accuracies, in [-1, 1], with its interval ``low`` to ``high`` by item; ``p``: the
    two-sided sign-flip test of no difference. NaN if undefined.
    """

    lead: float
    low: float
    high: float
    p: float
    items: int


MetricScores = dict[str, dict[str, dict[str, float]]]  # metric -> system -> item -> score, NaN if undefined


def read_scores(
    paths: Sequence[Path], systems: Sequence[str], judged: Mapping[tuple[str, str], str] | None = None
) -> MetricScores:
    """The scores of ``systems`` by every metric in files that `rlsum score` wrote.

    ``judged``: (item, system) -> the text that judges read. Raises RecordError if a system has no scores, or two rows
    for an item, or if many candidates do not hold the text that was judged.
    """
    name = ", ".join(map(str, paths))
    scores: MetricScores = {}
    seen: set[tuple[str, str]] = set()
    known, others = 0, list[Output]()
    for output in (output for path in paths for output in read_outputs(path)):
        if output.system not in systems:
            continue
        if (output.system, output.id) in seen:
            raise RecordError(f"{name}: item {output.id} of {output.system} has two rows; keep one")
        seen.add((output.system, output.id))
        if text := (judged or {}).get((output.id, output.system), ""):
            known += 1
            if letters(in_print(text)) not in letters(in_print(output.candidate)):
                others.append(output)
        for metric, score in output.scores.items():
            value = math.nan if score is None else score
            scores.setdefault(metric, {}).setdefault(output.system, {})[output.id] = value
    if len(others) > OTHERS * known:
        many = f"{len(others):,} of {known:,} candidates are not the texts that were judged"
        example = f"such as item {others[0].id} of {others[0].system}"
        raise RecordError(f"{name}: {many}, {example}; score the files that the study was built from")
    for system in systems:
        if not any(system in by_system for by_system in scores.values()):
            raise RecordError(f"{name}: no scores of system {system!r}; make them with `rlsum score`")
    return scores


def difference(scores: dict[str, dict[str, float]], pair: Pair, items: Sequence[str]) -> Floats:
    """Score of the second system of ``pair`` minus that of the first (items,); NaN if either is missing."""
    first, second = (scores.get(system, {}) for system in pair)
    return np.array([second.get(item, math.nan) - first.get(item, math.nan) for item in items])


def scored_items(scores: dict[str, dict[str, float]], pair: Pair) -> tuple[str, ...]:
    """The sorted items for which both systems of ``pair`` have a row."""
    return tuple(sorted(set(scores.get(pair[0], {})) & set(scores.get(pair[1], {}))))


def accuracy(people: ArrayLike, metric: ArrayLike, *, items: Ids | None = None, how: Uncertainty = USUAL) -> Preference:
    """How often the signs of ``people`` (n,) and ``metric`` (n,), preferences for the second text, agree.

    ``share`` is the accuracy (chance: .5), with its interval by item and the test against chance. Comparisons in which
    people tie have no right answer and are left out, as are NaN of the metric. A tie of the metric counts half.
    ``first`` counts wrong choices, ``tied`` ties of the metric, ``second`` right choices.
    """
    choice, truth = np.sign(np.asarray(metric, dtype=float)), np.sign(np.asarray(people, dtype=float))
    agreed = np.where(truth == 0, np.nan, choice * truth)
    return preference(agreed[:, None], items=items, how=how)


def metric_agreements(
    votes: Sequence[Vote], scores: MetricScores | None, how: Uncertainty = USUAL
) -> dict[str, Preference]:
    """Name -> accuracy against the mean vote of each comparison: every metric, the longer text, and a single judge.

    The single judge is compared with the mean of the others, which has one judge fewer. Others who tie, and a judge who
    ties, count half, so 50% is chance for any number of judges.
    """
    judged = matrix(votes)
    longer = {(vote.item, vote.pair, vote.comparison): vote.longer for vote in votes}
    choices: dict[str, Sequence[float]] = {
        metric: [float(difference(by_system, pair, [item])[0]) for item, pair, _ in judged.rows]
        for metric, by_system in (scores or {}).items()
    }
    choices[LENGTH] = [longer[row] for row in judged.rows]
    people = _majority(np.nansum(judged.values, axis=1))
    accuracies = {name: accuracy(people, choice, items=judged.items, how=how) for name, choice in choices.items()}
    agreed = np.sign(judged.values) * choice_of_others(judged)
    accuracies[JUDGE] = preference(agreed, items=judged.items, how=how)
    return accuracies


def length_lead(votes: Sequence[Vote], how: Uncertainty = USUAL) -> Lead:
    """Length against a single judge, both as predictions of what the other judges choose, on the same comparisons.

    Each judge's vote and the longer text are right, wrong or half right about the majority of the other judges. The
    test flips the signs of the items' mean differences.
    """
    judged = matrix(votes)
    longer = {(vote.item, vote.pair, vote.comparison): vote.longer for vote in votes}
    by_length = np.array([longer[row] for row in judged.rows], dtype=np.float64)
    ahead = choice_of_others(judged) * (by_length[:, None] - np.sign(judged.values)) / 2
    means = item_means(ahead, judged.items)
    if not len(means):
        return Lead(math.nan, math.nan, math.nan, math.nan, 0)
    low, high = bounded(means, how)
    _, p = paired_difference(means, np.zeros(len(means)), how)
    return Lead(float(means.mean()), low, high, p, len(means))


def choice_of_others(judged: VoteMatrix) -> Floats:
    """The sign of the other judges' mean vote (comparisons, judges); NaN without a vote, or without other judges."""
    present = ~np.isnan(judged.values)
    others = np.nansum(judged.values, axis=1, keepdims=True) - np.where(present, judged.values, 0.0)
    return np.where(present & (present.sum(1, keepdims=True) > 1), _majority(others), np.nan)


def _majority(sums: Floats) -> Floats:
    """The sign of sums of votes: 1, -1, or 0 for a tie, which fractions of graded answers miss by rounding."""
    return np.sign(np.round(sums, 9))
