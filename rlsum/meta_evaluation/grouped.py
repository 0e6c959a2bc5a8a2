"""Correlations within groups (language pairs, topics), which are independent, their average, interval and tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import Correlation, bootstrap_values, correlate, percentiles
from rlsum.evaluation.permutation import Swapped, defined_in_both, p_values, swapped_differences
from rlsum.evaluation.population import (
    Ends,
    Spread,
    averaged,
    estimate,
    estimated_difference,
    no_interval,
    sizes,
    t_interval,
    valued,
    why_not,
)
from rlsum.evaluation.rows import Floats, Ints, Rows, constant, judged_rows, members, paired_rows
from rlsum.evaluation.significance import MetricTest, Test, with_t
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.scores import ScoreTable


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
    how = choices.uncertainty
    correlations, draws, spreads = {}, {}, {}
    for number, (group, chosen) in enumerate(members(table.groups).items()):
        scores, names = (table.human[chosen], table.scores(label)[chosen]), _names(table, chosen)
        correlations[group] = correlate(*scores, statistic=statistic, level=level, **names, how=how)
        if not np.isnan(correlations[group].value) and how.resamples:
            rows = judged_rows(*scores, **names)
            units = np.unique(rows.unit)
            rows = replace(rows, unit=np.searchsorted(units, rows.unit), units=len(units))
            if named(statistic).influence:
                spreads[group] = estimate(valued(rows, statistic, level), statistic, level, "inputs")
            else:
                engine = named(statistic).engine(rows, level)
                draws[group] = bootstrap_values(engine, rows.units, how.resamples, how.seed + number)
    return _averaged(correlations, draws, spreads, len(table), choices)


def compare_within(table: ScoreTable, statistic: str, level: Level, choices: Choices) -> list[MetricTest]:
    """The average difference of each pair of columns: a t test, or swaps of inputs on request and for accuracies."""
    test = _by_t if named(statistic).influence and choices.test == "auto" else _by_swaps
    return [test(table, a, b, statistic, level, choices) for a, b in combinations(table.columns, 2)]


def _by_swaps(table: ScoreTable, a: str, b: str, statistic: str, level: Level, choices: Choices) -> MetricTest:
    """The test of an average difference by swaps of whole inputs within each group."""
    results: list[Swapped] = []
    weights: list[int] = []
    groups = list(_pairs(table, a, b))
    for seed, (_, first, second) in enumerate(groups, choices.seed):
        if _varied(first, second):
            options: dict[str, Any] = {"resamples": choices.resamples, "seed": seed, "exact": False}
            result = swapped_differences(first, second, statistic, level, **options)
            if not result.reason:
                results.append(result)
                weights.append(1 if choices.average == "groups" else len(first))
    left_out = len(groups) - len(results)
    why = f"whole inputs are swapped within each of {len(results)} groups"
    why += f" ({left_out} more are undefined)" if left_out else ""
    test = _untested(table, a, b, "clustered permutation", statistic, level, why)
    if choices.test == "auto" and level == "system":
        return replace(test, reason=f"no test: {why_not(statistic, level, 0, 0, 'inputs', test=True)}")
    if not results:
        return replace(test, reason="undefined in every group")
    share = np.array(weights) / sum(weights)
    difference = float(share @ [result.difference for result in results])
    p, p_greater = p_values(difference, share @ np.stack([result.swaps for result in results]))
    return replace(test, difference=difference, p=p, p_greater=p_greater, units=sum(result.units for result in results))


def _by_t(table: ScoreTable, a: str, b: str, statistic: str, level: Level, choices: Choices) -> MetricTest:
    """The t test of an average difference, each group with a standard error of its own."""
    spreads, weights, left_out, equal = [], [], 0, 0
    why = "inputs are the independent units"
    test = _untested(table, a, b, "clustered t", statistic, level, why)
    for group, first, second in _pairs(table, a, b):
        if level == "input":
            first, second = defined_in_both(first, second, statistic)
        if not _varied(first, second):
            left_out += 1
            continue
        if reason := why_not(statistic, level, *sizes(first.unit, first.system, level), "inputs", test=True):
            return replace(test, reason=f"no test: {_named(group)}: {reason}")
        difference = estimated_difference(first, second, statistic, level, "inputs")
        same = abs(difference.value) < 1e-12 and np.isnan(difference.error)
        equal += same
        spreads.append(difference._replace(error=0.0) if same else difference)
        weights.append(1 if choices.average == "groups" else len(first))
    why += f", of each of {len(spreads)} groups"
    why += f" ({left_out} more are undefined)" if left_out else ""
    why += f"; in {equal} of them the metrics are equal, so p is that of the others" if 0 < equal < len(spreads) else ""
    if not spreads:
        return replace(test, why=why, reason="undefined in every group")
    mean = averaged(spreads, np.array(weights, dtype=np.float64))
    units = sum(spread.degrees + 1 for spread in spreads)
    return replace(with_t(test, mean), why=why, units=units)


def _untested(table: ScoreTable, a: str, b: str, test: Test, statistic: str, level: Level, why: str) -> MetricTest:
    return MetricTest(a, b, test, statistic, level, np.nan, np.nan, np.nan, len(table), 0, why)


def _pairs(table: ScoreTable, a: str, b: str) -> Iterator[tuple[str, Rows, Rows]]:
    """Each group, with its rows on which both metrics are defined."""
    for group, chosen in members(table.groups).items():
        scores = table.human[chosen], table.scores(a)[chosen], table.scores(b)[chosen]
        yield group, *paired_rows(*scores, **_names(table, chosen))


def _varied(first: Rows, second: Rows) -> bool:
    return len(first) > 1 and not any(constant(values) for values in (first.human, first.metric, second.metric))


def _named(group: str) -> str:
    return f"group {group}" if group else "rows without a group"


def _names(table: ScoreTable, chosen: Ints) -> dict[str, Any]:
    return {"inputs": [table.inputs[index] for index in chosen], "systems": [table.systems[index] for index in chosen]}


def _averaged(
    correlations: Mapping[str, Correlation],
    draws: Mapping[str, Floats],
    spreads: Mapping[str, Spread],
    judged: int,
    choices: Choices,
) -> GroupedCorrelation:
    defined = {group: correlation for group, correlation in correlations.items() if not np.isnan(correlation.value)}
    left_out = tuple(group for group in correlations if group not in defined)
    n = sum(correlation.n for correlation in (defined or correlations).values())
    any_group, nan = next(iter(correlations.values())), float("nan")
    result = Correlation(any_group.statistic, any_group.level, nan, nan, nan, n, n / judged, len(defined))
    reasons = "; ".join(dict.fromkeys(correlations[group].reason for group in left_out))
    if not defined:
        reason = f"undefined in every group ({reasons})"
        return GroupedCorrelation(replace(result, reason=reason), correlations, left_out)
    weights = np.array(
        [1 if choices.average == "groups" else correlation.n for correlation in defined.values()], dtype=np.float64
    )
    value = float(np.average([correlation.value for correlation in defined.values()], weights=weights))
    low, high, reason = nan, nan, ""
    if spreads or draws:
        low, high, reason = _interval(defined, spreads, draws, weights, choices.uncertainty.level)
    if left_out:
        omitted = f"{len(left_out)} of {len(correlations)} groups left out ({reasons})"
        reason = f"{omitted}; {reason}" if reason else omitted
    return GroupedCorrelation(replace(result, value=value, low=low, high=high, reason=reason), correlations, left_out)


def _interval(
    defined: Mapping[str, Correlation],
    spreads: Mapping[str, Spread],
    draws: Mapping[str, Floats],
    weights: Floats,
    confidence: float,
) -> Ends:
    """The interval of the average, or why a group has none."""
    for group, correlation in defined.items():
        if np.isnan(correlation.low):
            return no_interval(f"{_named(group)}: {correlation.reason.removeprefix('no interval: ')}")
    if draws:
        return percentiles(_mean(np.stack([draws[group] for group in defined]), weights), confidence)
    level = next(iter(defined.values())).level
    return t_interval(averaged([spreads[group] for group in defined], weights), level, confidence)


def _mean(values: Floats, weights: Floats) -> Floats:
    """The weighted mean (r,) over groups of ``values`` (groups, r), over the groups where it is defined."""
    defined = ~np.isnan(values) * weights[:, None]
    with np.errstate(invalid="ignore"):
        return (np.nan_to_num(values) * defined).sum(0) / defined.sum(0)
