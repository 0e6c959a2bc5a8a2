"""Correlations within groups (language pairs, topics), which are independent, their average, interval and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from rlsum.evaluation.correlation import RESAMPLES, Correlation, bootstrap_values, correlate, percentiles
from rlsum.evaluation.permutation import Swapped, p_values, swapped_differences
from rlsum.evaluation.population import Random
from rlsum.evaluation.rows import Floats, Ints, constant, judged_rows, members, paired_rows
from rlsum.evaluation.significance import MetricTest, TestOption, with_holm
from rlsum.evaluation.weighted import Level, Statistic, engine
from rlsum.meta_evaluation.scores import ScoreTable

Average = Literal["groups", "rows"]

AVERAGES: dict[Average, str] = {
    "groups": "the mean over the groups, with equal weights",
    "rows": "the mean over the groups, weighted by their rows",
}
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Choices:
    """How to compute. ``average`` None pools all groups; within groups the test is always clustered by input.

    ``random``: whether inputs, systems or both are a sample, None: both where the systems are enough. Within groups
    systems are always taken as given.
    """

    level: Level = "pooled"
    average: Average | None = None
    test: TestOption = "auto"
    resamples: int = RESAMPLES
    seed: int = 0
    random: Random | None = None


@dataclass(frozen=True)
class GroupedCorrelation:
    """The correlation of each group, and the average of those that are not undefined and so ``left_out``."""

    average: Correlation
    groups: Mapping[str, Correlation]
    left_out: tuple[str, ...] = ()


def correlate_within(
    table: ScoreTable, label: str, statistic: Statistic, level: Level, choices: Choices
) -> GroupedCorrelation:
    """`correlate` within each group of rows, and the average; its interval draws the inputs of each group apart."""
    resamples, seed = choices.resamples, choices.seed
    correlations, draws = {}, {}
    for number, (group, chosen) in enumerate(members(table.groups).items()):
        scores, names = (table.human[chosen], table.scores(label)[chosen]), _names(table, chosen)
        correlations[group] = correlate(
            *scores, statistic=statistic, level=level, **names, resamples=resamples, seed=seed
        )
        if not np.isnan(correlations[group].value) and resamples:
            rows = judged_rows(*scores, **names)
            kept = np.unique(rows.unit)
            rows = replace(rows, unit=np.searchsorted(kept, rows.unit), units=len(kept))
            draws[group] = bootstrap_values(engine(rows, statistic, level), rows.units, resamples, seed + number)
    return _averaged(correlations, draws, len(table), choices.average)


def compare_within(table: ScoreTable, statistic: Statistic, level: Level, choices: Choices) -> list[MetricTest]:
    """The average difference of each pair of columns, tested by swapping whole inputs within each group; with Holm."""
    groups = list(members(table.groups).values())
    tests = []
    for a, b in combinations(table.columns, 2):
        parts: list[Swapped] = []
        weights: list[int] = []
        for number, chosen in enumerate(groups):
            scores = table.human[chosen], table.scores(a)[chosen], table.scores(b)[chosen]
            first, second = paired_rows(*scores, **_names(table, chosen))
            if len(first) < 2 or any(constant(values) for values in (first.human, first.metric, second.metric)):
                continue
            seed = choices.seed + number
            part = swapped_differences(
                first, second, statistic, level, resamples=choices.resamples, seed=seed, exact=False
            )
            if not part.reason:
                parts.append(part)
                weights.append(1 if choices.average == "groups" else len(first))
        why = f"whole inputs are swapped within each of {len(parts)} groups"
        if len(parts) < len(groups):
            why += f" ({len(groups) - len(parts)} more are undefined)"
        nan = float("nan")
        test = MetricTest(a, b, "clustered permutation", statistic, level, nan, nan, nan, len(table), 0, why)
        tests.append(_tested(test, parts, weights) if parts else replace(test, reason="undefined in every group"))
    return with_holm(tests)


def _names(table: ScoreTable, chosen: Ints) -> dict[str, Any]:
    return {
        "inputs": [table.inputs[index] for index in chosen],
        "systems": [table.systems[index] for index in chosen],
    }


def _averaged(
    correlations: Mapping[str, Correlation], draws: Mapping[str, Floats], judged: int, average: Average | None
) -> GroupedCorrelation:
    defined = {group: found for group, found in correlations.items() if not np.isnan(found.value)}
    left_out = tuple(group for group in correlations if group not in defined)
    n = sum(found.n for found in correlations.values())
    any_group, nan = next(iter(correlations.values())), float("nan")
    result = Correlation(any_group.statistic, any_group.level, nan, nan, nan, n, n / judged, len(defined))
    reasons = "; ".join(dict.fromkeys(correlations[group].reason for group in left_out))
    if not defined:
        reason = f"undefined in every group ({reasons})"
        return GroupedCorrelation(replace(result, reason=reason), correlations, left_out)
    weights = np.array([1 if average == "groups" else found.n for found in defined.values()], dtype=np.float64)
    value = float(np.average([found.value for found in defined.values()], weights=weights))
    low, high, reason = nan, nan, ""
    if draws:
        low, high, reason = percentiles(_mean(np.stack([draws[group] for group in defined]), weights), CONFIDENCE)
    if left_out:
        reason = f"{len(left_out)} of {len(correlations)} groups left out ({reasons})"
    return GroupedCorrelation(replace(result, value=value, low=low, high=high, reason=reason), correlations, left_out)


def _mean(values: Floats, weights: Floats) -> Floats:
    """The weighted mean (r,) over groups of ``values`` (groups, r), over the groups where it is defined."""
    defined = ~np.isnan(values) * weights[:, None]
    with np.errstate(invalid="ignore"):
        return (np.nan_to_num(values) * defined).sum(0) / defined.sum(0)


def _tested(test: MetricTest, parts: Sequence[Swapped], weights: Sequence[int]) -> MetricTest:
    share = np.array(weights) / sum(weights)
    difference = float(share @ [part.difference for part in parts])
    p, p_greater = p_values(difference, share @ np.stack([part.swaps for part in parts]))
    return replace(test, difference=difference, p=p, p_greater=p_greater, units=sum(part.units for part in parts))
