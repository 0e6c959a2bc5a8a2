"""Correlations within groups (language pairs, topics) and their average, with its interval and its tests.

Groups are independent of each other: their inputs are drawn, or swapped, apart, and the average is taken each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rlsum.evaluation.correlation import Correlation, bootstrap_values, correlate, percentiles
from rlsum.evaluation.permutation import Swapped, p_values, swapped_differences
from rlsum.evaluation.rows import Ids, constant, judged_rows, paired_rows
from rlsum.evaluation.significance import MetricTest
from rlsum.evaluation.statistics import holm
from rlsum.evaluation.weighted import Level, Statistic, engine

Floats = NDArray[np.float64]
Average = Literal["groups", "rows"]

AVERAGES: dict[Average, str] = {
    "groups": "the mean over the groups, each counting once",
    "rows": "the mean over the groups, weighted by their rows",
}
CONFIDENCE = 0.95


@dataclass(frozen=True)
class GroupedCorrelation:
    """The correlation within each group, and their average, of which ``left_out`` groups are no part.

    ``average.over`` counts groups. ``average.reason`` says why some are left out: they are undefined there.
    """

    average: Correlation
    groups: Mapping[str, Correlation]
    left_out: tuple[str, ...] = ()


def correlate_within(
    human: Floats,
    metric: Floats,
    groups: Sequence[str],
    *,
    statistic: Statistic,
    level: Level,
    inputs: Ids,
    systems: Ids,
    average: Average,
    resamples: int,
    seed: int = 0,
) -> GroupedCorrelation:
    """`correlate` within each group of rows, and the average as ``average`` says, all (n,).

    The interval of the average draws the inputs of each group anew. Raises ValueError as `correlate` does.
    """
    places, found, drawn = members(groups), {}, {}
    for number, (group, chosen) in enumerate(places.items()):
        ids = [inputs[place] for place in chosen]
        names = [systems[place] for place in chosen]
        found[group] = correlate(
            human[chosen],
            metric[chosen],
            statistic=statistic,
            level=level,
            inputs=ids,
            systems=names,
            resamples=resamples,
            seed=seed,
        )
        if not np.isnan(found[group].value) and resamples:
            rows = judged_rows(human[chosen], metric[chosen], ids, names)
            kept = np.unique(rows.unit)
            rows = replace(rows, unit=np.searchsorted(kept, rows.unit), units=len(kept))
            drawn[group] = bootstrap_values(engine(rows, statistic, level), rows.units, resamples, seed + number)
    return _averaged(found, drawn, {group: len(chosen) for group, chosen in places.items()}, average)


def compare_within(
    human: Floats,
    metrics: Mapping[str, Floats],
    pairs: Sequence[tuple[str, str]],
    groups: Sequence[str],
    *,
    statistic: Statistic,
    level: Level,
    inputs: Ids,
    systems: Ids,
    average: Average,
    resamples: int,
    seed: int = 0,
) -> list[MetricTest]:
    """The average difference of each pair of metrics, tested by swapping whole inputs within each group; with Holm."""
    places = members(groups)
    tests = []
    for a, b in pairs:
        parts: list[Swapped] = []
        weights: list[int] = []
        for number, chosen in enumerate(places.values()):
            first, second = paired_rows(
                human[chosen],
                metrics[a][chosen],
                metrics[b][chosen],
                [inputs[place] for place in chosen],
                [systems[place] for place in chosen],
            )
            if len(first) < 2 or any(constant(values) for values in (first.human, first.metric, second.metric)):
                continue
            part = swapped_differences(
                first, second, statistic, level, resamples=resamples, seed=seed + number, exact=False
            )
            if not part.reason:
                parts.append(part)
                weights.append(1 if average == "groups" else len(first))
        tests.append(_tested(a, b, statistic, level, parts, weights, len(places), len(human)))
    return [replace(test, p_holm=float(p)) for test, p in zip(tests, holm([each.p for each in tests]), strict=True)]


def members(groups: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """The rows of each group, groups in the order in which they first appear."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return {group: np.array(chosen) for group, chosen in places.items()}


def _averaged(
    found: Mapping[str, Correlation], drawn: Mapping[str, Floats], rows: Mapping[str, int], average: Average
) -> GroupedCorrelation:
    defined = [group for group, each in found.items() if not np.isnan(each.value)]
    left_out = tuple(group for group in found if group not in defined)
    n, judged = sum(each.n for each in found.values()), sum(rows.values())
    any_one, nan = next(iter(found.values())), float("nan")
    result = Correlation(any_one.statistic, any_one.level, nan, nan, nan, n, n / judged, len(defined))
    reasons = "; ".join(dict.fromkeys(found[group].reason for group in left_out))
    if not defined:
        return GroupedCorrelation(replace(result, reason=f"undefined in every group ({reasons})"), found, left_out)
    weights = np.array([1 if average == "groups" else found[group].n for group in defined], dtype=np.float64)
    value = float(np.average([found[group].value for group in defined], weights=weights))
    low, high, reason = nan, nan, ""
    if drawn:
        low, high, reason = percentiles(_mean(np.stack([drawn[group] for group in defined]), weights), CONFIDENCE)
    if left_out:
        reason = f"{len(left_out)} of {len(found)} groups left out ({reasons})"
    return GroupedCorrelation(replace(result, value=value, low=low, high=high, reason=reason), found, left_out)


def _mean(values: Floats, weights: Floats) -> Floats:
    """The weighted mean (r,) over groups of ``values`` (groups, r), over those where it is defined."""
    here = ~np.isnan(values) * weights[:, None]
    with np.errstate(invalid="ignore"):
        return (np.nan_to_num(values) * here).sum(0) / here.sum(0)


def _tested(
    a: str,
    b: str,
    statistic: Statistic,
    level: Level,
    parts: Sequence[Swapped],
    weights: Sequence[int],
    groups: int,
    rows: int,
) -> MetricTest:
    why = f"whole inputs are swapped within each of {len(parts)} groups" + (
        f" ({groups - len(parts)} more are undefined)" if len(parts) < groups else ""
    )
    nan = float("nan")
    test = MetricTest(a, b, "clustered permutation", statistic, level, nan, nan, nan, rows, 0, why)
    if not parts:
        return replace(test, reason="undefined in every group")
    share = np.array(weights) / sum(weights)
    difference = float(share @ [part.difference for part in parts])
    swaps = share @ np.stack([part.swaps for part in parts])
    p, p_greater = p_values(difference, swaps)
    return replace(test, difference=difference, p=p, p_greater=p_greater, units=sum(part.units for part in parts))
