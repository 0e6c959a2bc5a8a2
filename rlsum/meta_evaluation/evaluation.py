"""All statistics of a table of scores: correlations with intervals, tests between metrics, the ceiling of a judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlsum.evaluation.agreement import Agreement, judge_ceiling, krippendorff_alpha
from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import DEFAULT, named
from rlsum.evaluation.correlation import correlate, few_inputs
from rlsum.evaluation.population import chosen_random
from rlsum.evaluation.rows import Ints, members
from rlsum.evaluation.significance import MetricTest, compare_all_metrics
from rlsum.evaluation.statistics import Random, with_holm
from rlsum.meta_evaluation.choices import USUAL, Choices
from rlsum.meta_evaluation.grouped import GroupedCorrelation, compare_within, correlate_within
from rlsum.meta_evaluation.scores import ScoreTable

CORRECTION = "Holm"  # of the p-values of all pairs of columns, in `evaluate`


@dataclass(frozen=True)
class Result:
    """One statistic: label -> correlation (metrics, then lengths), the tests of all pairs of labels, the ceiling.

    ``ceiling`` is None without single judges' scores, and for accuracies. ``random``: the population of intervals and
    tests. ``significance``: the level of the tests.
    """

    statistic: str
    level: Level
    correlations: Mapping[str, GroupedCorrelation]
    tests: tuple[MetricTest, ...]
    ceiling: Agreement | None = None
    random: Random = "inputs"
    significance: float = USUAL.significance

    @property
    def tested(self) -> bool:
        """Whether any pair has a p-value."""
        return any(not math.isnan(test.p_holm) for test in self.tests)

    def detected(self, test: MetricTest) -> bool:
        """Whether one of the tests detects a difference."""
        return test.p_holm < self.significance


@dataclass(frozen=True)
class Results:
    """All statistics of a table. ``alpha``: Krippendorff's, interval scale; None without single judges' scores."""

    table: ScoreTable
    choices: Choices
    results: tuple[Result, ...]
    alpha: Agreement | None = None


def meta_evaluate(table: ScoreTable, statistics: Sequence[str] = DEFAULT, choices: Choices = USUAL) -> Results:
    """All ``statistics`` of the columns, each at a level that it has. Raises ValueError for unknown options."""
    alpha = None
    if table.judges is not None:
        few = few_inputs(len(set(table.inputs)))
        how = replace(choices.uncertainty, resamples=0 if few else choices.resamples)
        alpha = krippendorff_alpha(table.judges.scores, inputs=table.inputs, how=how)
        alpha = replace(alpha, reason=alpha.reason or few)
    return Results(table, choices, tuple(evaluate(table, name, choices) for name in statistics), alpha)


def swaps(table: ScoreTable, choices: Choices) -> int:
    """The number of swaps of a test: ``choices.resamples``, or as many as p = .01 needs after the correction."""
    return max(1, choices.resamples, 100 * math.comb(len(table.columns), 2))


def level_of(statistic: str, choices: Choices) -> Level:
    """The level of a statistic: that of ``choices``, if the statistic has it."""
    levels = named(statistic).levels
    return choices.level if choices.level in levels else levels[0]


def random_of(table: ScoreTable, statistic: str, choices: Choices) -> Random:
    """What is random: that of ``choices``, else inputs for a requested test and within groups, else by the systems."""
    if choices.average is not None or (choices.random is None and choices.test != "auto"):
        return "inputs"
    return choices.random or chosen_random(statistic, level_of(statistic, choices), table.inputs, table.systems)


def evaluate(table: ScoreTable, statistic: str, choices: Choices) -> Result:
    """One statistic of all columns."""
    level = level_of(statistic, choices)
    judged = table.judges is not None and not named(statistic).accuracy
    ceiling = _ceiling(table, statistic, choices) if judged else None
    options: dict[str, Any] = {"statistic": statistic, "level": level, "inputs": table.inputs, "systems": table.systems}
    options["random"] = random = random_of(table, statistic, choices)
    enough = swaps(table, choices)
    if choices.average is not None:
        correlations = {label: correlate_within(table, label, statistic, level, choices) for label in table.columns}
        tests = compare_within(table, statistic, level, replace(choices, resamples=enough))
    else:
        scores = {label: column.scores for label, column in table.columns.items()}
        correlations = {
            label: GroupedCorrelation(correlate(table.human, column, **options, how=choices.uncertainty), {})
            for label, column in scores.items()
        }
        tests = compare_all_metrics(
            table.human, scores, test=choices.test, **options, resamples=enough, seed=choices.seed
        )
    return Result(statistic, level, correlations, tuple(with_holm(tests)), ceiling, random, choices.significance)


def _ceiling(table: ScoreTable, statistic: Any, choices: Choices) -> Agreement:
    """One judge against the others: over all rows, or the average of the groups, which has no interval."""
    judges = table.judges
    assert judges is not None

    def ceiling(chosen: Ints, resamples: int) -> Agreement:
        return judge_ceiling(
            judges.scores[chosen],
            judges="named" if judges.named else "anonymous",
            statistic=statistic,
            inputs=[table.inputs[index] for index in chosen],
            how=replace(choices.uncertainty, resamples=resamples),
        )

    if choices.average is None:
        few = few_inputs(len(set(table.inputs)))
        all_rows = ceiling(np.arange(len(table)), 0 if few else choices.resamples)
        return replace(all_rows, reason=all_rows.reason or few)
    groups = [ceiling(chosen, 0) for chosen in members(table.groups).values()]
    defined = [group for group in groups if not np.isnan(group.value)]
    if not defined:
        return groups[0]
    weights = [1 if choices.average == "groups" else group.n for group in defined]
    value = float(np.average([group.value for group in defined], weights=weights))
    n, judgments = sum(group.n for group in groups), sum(group.judgments for group in groups)
    return replace(groups[0], value=value, n=n, judgments=judgments, reason=f"average of {len(defined)} groups")
