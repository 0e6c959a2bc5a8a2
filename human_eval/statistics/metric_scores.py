"""Metric scores from a file by `rlsum score`: metric -> system -> item -> score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from human_eval.statistics.votes import Floats, Pair
from rlsum.records import Output, RecordError, read_outputs

MetricScores = dict[str, dict[str, dict[str, float]]]


def read_scores(paths: Sequence[Path], systems: Sequence[str]) -> MetricScores:
    """The scores of ``systems`` by every metric of scored outputs files, NaN = undefined; of no others.

    Raises RecordError where a system has no scores at all, or an item of a system has two rows.
    """
    outputs = [output for path in paths for output in read_outputs(path)]
    return collected(outputs, systems, ", ".join(map(str, paths)))


def collected(outputs: Iterable[Output], systems: Sequence[str], name: str) -> MetricScores:
    """`read_scores` of records at hand; ``name`` is where they come from."""
    scores: MetricScores = {}
    seen: set[tuple[str, str]] = set()
    for output in outputs:
        if output.system not in systems:
            continue
        if (output.system, output.id) in seen:
            raise RecordError(f"{name}: item {output.id} of {output.system} has two rows; keep one")
        seen.add((output.system, output.id))
        for metric, score in output.scores.items():
            value = math.nan if score is None else score
            scores.setdefault(metric, {}).setdefault(output.system, {})[output.id] = value
    for system in systems:
        if not any(system in by_system for by_system in scores.values()):
            raise RecordError(f"{name}: no scores of system {system!r}; make them with `rlsum score`")
    return scores


def difference(scores: dict[str, dict[str, float]], pair: Pair, items: Sequence[str]) -> Floats:
    """Score of the second system of ``pair`` less that of the first (items,), NaN where either lacks one."""
    first, second = (scores.get(system, {}) for system in pair)
    return np.array([second.get(item, math.nan) - first.get(item, math.nan) for item in items])


def scored_items(scores: dict[str, dict[str, float]], pair: Pair) -> tuple[str, ...]:
    """The items on which both systems of ``pair`` have a row, by name."""
    return tuple(sorted(set(scores.get(pair[0], {})) & set(scores.get(pair[1], {}))))
