"""A table of scores -> every statistic of it: correlations with intervals, tests between metrics, judges' ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from rlsum.evaluation.agreement import Agreement, judge_ceiling, krippendorff_alpha
from rlsum.evaluation.correlation import RESAMPLES, correlate
from rlsum.evaluation.significance import Asked, MetricTest, compare_all_metrics
from rlsum.evaluation.weighted import Level, Statistic, check
from rlsum.meta_evaluation.grouped import Average, GroupedCorrelation, compare_within, correlate_within, members
from rlsum.meta_evaluation.scores import ScoreTable

STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson", "kendall")
CEILINGS = ("pearson", "spearman", "kendall")  # the statistics for which one judge can be set against the others


@dataclass(frozen=True)
class Choices:
    """How the statistics are made. ``average`` None pools all groups; else correlations are taken within groups.

    ``test`` is that of `compare_metrics`; within groups it is always the permutation clustered by input.
    """

    level: Level = "pooled"
    average: Average | None = None
    test: Asked = "auto"
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """One statistic: label -> correlation (metrics, then lengths), the ceiling, and all pairs of labels tested.

    ``ceiling`` is None where no row has single judges' scores, or one judge cannot be given this statistic.
    ``williams`` holds Williams' test of the same pairs, as the papers report it: pooled Pearson and Spearman only.
    """

    statistic: Statistic
    level: Level
    correlations: Mapping[str, GroupedCorrelation]
    tests: tuple[MetricTest, ...]
    ceiling: Agreement | None = None
    williams: tuple[MetricTest, ...] = ()


@dataclass(frozen=True)
class MetaEvaluation:
    """Everything that is said of a table. ``alpha``: Krippendorff's, interval scale; None without single judges."""

    table: ScoreTable
    choices: Choices
    results: tuple[Result, ...]
    alpha: Agreement | None = None


def meta_evaluate(
    table: ScoreTable, statistics: Sequence[Statistic] = STATISTICS, choices: Choices | None = None
) -> MetaEvaluation:
    """All ``statistics`` of the columns of a table. Soft pairwise accuracy is of systems whatever the level asked for.

    Raises ValueError for unknown statistics and options.
    """
    choices = choices or Choices()
    for statistic in statistics:
        check(statistic, level_of(statistic, choices))
    alpha = None
    if table.judges is not None:
        alpha = krippendorff_alpha(
            table.judges.scores, inputs=table.inputs, resamples=choices.resamples, seed=choices.seed
        )
    return MetaEvaluation(table, choices, tuple(evaluate(table, each, choices) for each in statistics), alpha)


def swaps(table: ScoreTable, choices: Choices) -> int:
    """How often metrics are swapped in a test: as asked, but so often that p can be .01 after Holm's correction."""
    return max(choices.resamples, 100 * math.comb(len(table.columns), 2))


def level_of(statistic: Statistic, choices: Choices) -> Level:
    """The level at which a statistic is made: that which was asked for, save where it has but one."""
    return "system" if statistic == "spa" else choices.level


def evaluate(table: ScoreTable, statistic: Statistic, choices: Choices) -> Result:
    """One statistic of all columns."""
    level = level_of(statistic, choices)
    ceiling = _ceiling(table, statistic, choices) if table.judges is not None and statistic in CEILINGS else None
    make = _pooled if choices.average is None else _within
    correlations, tests = make(table, statistic, level, choices)
    williams = _williams(table, statistic, level, choices)
    return Result(statistic, level, correlations, tuple(tests), ceiling, williams)


def _pooled(
    table: ScoreTable, statistic: Statistic, level: Level, choices: Choices
) -> tuple[dict[str, GroupedCorrelation], list[MetricTest]]:
    named = _named(table, statistic, level, choices)
    correlations = {
        label: GroupedCorrelation(correlate(table.human, column.scores, **named), {})
        for label, column in table.columns.items()
    }
    scores = {label: column.scores for label, column in table.columns.items()}
    named["resamples"] = swaps(table, choices)
    return correlations, compare_all_metrics(table.human, scores, test=choices.test, **named)


def _within(
    table: ScoreTable, statistic: Statistic, level: Level, choices: Choices
) -> tuple[dict[str, GroupedCorrelation], list[MetricTest]]:
    assert choices.average is not None
    named = {**_named(table, statistic, level, choices), "average": choices.average}
    correlations = {
        label: correlate_within(table.human, column.scores, table.groups, **named)
        for label, column in table.columns.items()
    }
    scores = {label: column.scores for label, column in table.columns.items()}
    pairs = list(combinations(scores, 2))
    named["resamples"] = swaps(table, choices)
    return correlations, compare_within(table.human, scores, pairs, table.groups, **named)


def _named(table: ScoreTable, statistic: Statistic, level: Level, choices: Choices) -> dict[str, Any]:
    return {
        "statistic": statistic,
        "level": level,
        "inputs": table.inputs,
        "systems": table.systems,
        "resamples": choices.resamples,
        "seed": choices.seed,
    }


def _williams(table: ScoreTable, statistic: Statistic, level: Level, choices: Choices) -> tuple[MetricTest, ...]:
    if level != "pooled" or choices.average is not None or statistic not in ("pearson", "spearman"):
        return ()
    scores = {label: column.scores for label, column in table.columns.items()}
    named = _named(table, statistic, level, choices)
    return tuple(compare_all_metrics(table.human, scores, test="williams", **named))


def _ceiling(table: ScoreTable, statistic: Any, choices: Choices) -> Agreement:
    """One judge against the others: over all rows, or the average of the groups, which has no interval."""
    judges = table.judges
    assert judges is not None

    def of(chosen: Any, resamples: int) -> Agreement:
        return judge_ceiling(
            judges.scores[chosen],
            judges="named" if judges.named else "anonymous",
            statistic=statistic,
            inputs=[table.inputs[place] for place in chosen],
            resamples=resamples,
            seed=choices.seed,
        )

    if choices.average is None:
        return of(np.arange(len(table)), choices.resamples)
    found = [of(chosen, 0) for chosen in members(table.groups).values()]
    defined = [each for each in found if not np.isnan(each.value)]
    if not defined:
        return found[0]
    weights = [1 if choices.average == "groups" else each.n for each in defined]
    value = float(np.average([each.value for each in defined], weights=weights))
    n, judgments = sum(each.n for each in found), sum(each.judgments for each in found)
    return replace(found[0], value=value, n=n, judgments=judgments, reason=f"average of {len(defined)} groups")
