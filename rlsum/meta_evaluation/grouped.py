"""Correlations within groups (language pairs, topics), which are independent, their average, interval and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import RESAMPLES, Correlation, bootstrap_values, correlate, percentiles
from rlsum.evaluation.permutation import Swapped, defined_in_both, p_values, swapped_differences
from rlsum.evaluation.population import (
    Interval,
    Random,
    Spread,
    averaged,
    estimate,
    estimated_difference,
    no_interval,
    sizes,
    t_interval,
    t_test,
    valued,
    why_not,
)
from rlsum.evaluation.rows import Floats, Ints, Rows, constant, judged_rows, members, paired_rows
from rlsum.evaluation.significance import MetricTest, TestOption
from rlsum.evaluation.statistics import with_holm
from rlsum.meta_evaluation.scores import ScoreTable

Average = Literal["groups", "rows"]

AVERAGES: dict[Average, str] = {
    "groups": "the mean over the groups, with equal weights",
    "rows": "the mean over the groups, weighted by their rows",
}
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Choices:
    """How to compute. ``average`` None pools all groups; within groups tests are always clustered by input.

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
    table: ScoreTable, label: str, statistic: str, level: Level, choices: Choices
) -> GroupedCorrelation:
    """`correlate` within each group of rows, and the average; groups are independent samples of inputs."""
    resamples, seed = choices.resamples, choices.seed
    correlations, draws, spreads = {}, {}, {}
    for number, (group, chosen) in enumerate(members(table.groups).items()):
        scores, names = (table.human[chosen], table.scores(label)[chosen]), _names(table, chosen)
        correlations[group] = correlate(
            *scores, statistic=statistic, level=level, **names, resamples=resamples, seed=seed
        )
        if not np.isnan(correlations[group].value) and resamples:
            rows = judged_rows(*scores, **names)
            kept = np.unique(rows.unit)
            rows = replace(rows, unit=np.searchsorted(kept, rows.unit), units=len(kept))
            if named(statistic).influence:
                spreads[group] = estimate(valued(rows, statistic, level), statistic, level, "inputs")
            else:
                draws[group] = bootstrap_values(
                    named(statistic).engine(rows, level), rows.units, resamples, seed + number
                )
    return _averaged(correlations, draws, spreads, len(table), choices.average)


def compare_within(table: ScoreTable, statistic: str, level: Level, choices: Choices) -> list[MetricTest]:
    """The average difference of each pair of columns: a t test, or swaps of whole inputs for acc-t and spa; Holm."""
    if named(statistic).influence and choices.test == "auto":
        return with_holm([_by_t(table, a, b, statistic, level, choices) for a, b in combinations(table.columns, 2)])
    groups = list(members(table.groups).values())
    swapped = choices.test != "auto" or level != "system"
    unlike = "" if swapped else f"no test: {why_not(statistic, level, 0, 0, 'inputs', test=True)}"
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
        if unlike or not parts:
            tests.append(replace(test, reason=unlike or "undefined in every group"))
        else:
            tests.append(_tested(test, parts, weights))
    return with_holm(tests)


def _by_t(table: ScoreTable, a: str, b: str, statistic: str, level: Level, choices: Choices) -> MetricTest:
    """The t test of an average difference, each group with a standard error of its own."""
    parts, weights, left_out, equal, nan = [], [], 0, 0, float("nan")
    test = MetricTest(a, b, "clustered t", statistic, level, nan, nan, nan, len(table), 0, "")
    for group, chosen in members(table.groups).items():
        scores = table.human[chosen], table.scores(a)[chosen], table.scores(b)[chosen]
        tested, found, reason = _difference(*paired_rows(*scores, **_names(table, chosen)), statistic, level)
        if reason:
            return replace(test, why="inputs are the independent units", reason=f"no test: {_named(group)}: {reason}")
        left_out += found is None
        if found is not None:
            same = abs(found.value) < 1e-12 and np.isnan(found.error)
            equal += same
            parts.append(found._replace(error=0.0) if same else found)
            weights.append(1 if choices.average == "groups" else tested)
    why = f"inputs are the independent units, of each of {len(parts)} groups"
    why += f" ({left_out} more are undefined)" if left_out else ""
    why += f"; in {equal} of them the metrics are equal, so p is that of the others" if 0 < equal < len(parts) else ""
    if not parts:
        return replace(test, why=why, reason="undefined in every group")
    mean = averaged(parts, np.array(weights, dtype=np.float64))
    p, p_greater = t_test(mean)
    reason = "no test: the estimated variance of the difference is not positive" if np.isnan(p) else ""
    units = sum(part.degrees + 1 for part in parts)
    return replace(test, why=why, difference=mean.value, p=p, p_greater=p_greater, units=units, reason=reason)


def _difference(first: Rows, second: Rows, statistic: str, level: Level) -> tuple[int, Spread | None, str]:
    """The rows of a group and its difference, None if undefined; or why a test of so few does not hold its level."""
    if level == "input":
        first, second = defined_in_both(first, second, statistic)
    if len(first) < 2 or any(constant(values) for values in (first.human, first.metric, second.metric)):
        return len(first), None, ""
    if reason := why_not(statistic, level, *sizes(first.unit, first.system, level), "inputs", test=True):
        return len(first), None, reason
    return len(first), estimated_difference(first, second, statistic, level, "inputs"), ""


def _named(group: str) -> str:
    return f"group {group}" if group else "rows without a group"


def _names(table: ScoreTable, chosen: Ints) -> dict[str, Any]:
    return {
        "inputs": [table.inputs[index] for index in chosen],
        "systems": [table.systems[index] for index in chosen],
    }


def _averaged(
    correlations: Mapping[str, Correlation],
    draws: Mapping[str, Floats],
    spreads: Mapping[str, Spread],
    judged: int,
    average: Average | None,
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
    if spreads or draws:
        low, high, reason = _interval(defined, spreads, draws, weights)
    if left_out:
        left = f"{len(left_out)} of {len(correlations)} groups left out ({reasons})"
        reason = f"{left}; {reason}" if reason else left
    return GroupedCorrelation(replace(result, value=value, low=low, high=high, reason=reason), correlations, left_out)


def _interval(
    defined: Mapping[str, Correlation], spreads: Mapping[str, Spread], draws: Mapping[str, Floats], weights: Floats
) -> Interval:
    """The interval of the average, or why a group has none."""
    for group, found in defined.items():
        if np.isnan(found.low):
            return no_interval(f"{_named(group)}: {found.reason.removeprefix('no interval: ')}")
    if draws:
        return Interval(*percentiles(_mean(np.stack([draws[group] for group in defined]), weights), CONFIDENCE))
    level = next(iter(defined.values())).level
    return t_interval(averaged([spreads[group] for group in defined], weights), level, CONFIDENCE)


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
