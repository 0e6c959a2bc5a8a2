"""Judged rows: the human score and a metric's score of each text, with its input and its system.

A row is one judged candidate text; its *input* is what the text was written for (an article, a source sentence), its
*system* is its author. Rows with an undefined score (NaN) are left out and counted, never filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """n rows with both scores defined.

    ``human`` and ``metric`` (n,) float64; ``unit`` (n,) the number of each row's input, below ``units``: the unit of
    resampling; ``system`` (n,) the number of each row's system, below ``systems``; ``judged`` the number of rows with a
    human score, whether or not the metric is defined there.
    """

    human: Floats
    metric: Floats
    unit: Ints
    units: int
    system: Ints
    systems: int
    judged: int

    def __len__(self) -> int:
        return len(self.human)

    @property
    def coverage(self) -> float:
        """The share of the judged rows on which the metric is defined; NaN if no row was judged."""
        return len(self) / self.judged if self.judged else float("nan")

    @property
    def repeated(self) -> bool:
        """Whether some input has several rows, so that rows are not independent of each other."""
        return len(np.unique(self.unit)) < len(self)

    def where(self, kept: NDArray[np.bool_]) -> Rows:
        """The rows that are ``kept`` (n,); units and systems keep their numbers."""
        columns = {name: getattr(self, name)[kept] for name in ("human", "metric", "unit", "system")}
        return replace(self, **columns)

    def apart(self) -> Rows:
        """The same rows with every row as one unit."""
        return replace(self, unit=np.arange(len(self)), units=len(self))


def judged_rows(human: ArrayLike, metric: ArrayLike, inputs: Ids | None = None, systems: Ids | None = None) -> Rows:
    """The rows on which ``human`` (n,) and ``metric`` (n,) are both defined.

    ``inputs`` and ``systems`` (n,) are any hashable names; without ``inputs`` each row is its own input, without
    ``systems`` all rows belong to one system. Numbers follow the sorted names, so the order of the rows is irrelevant.
    Raises ValueError for empty, unequally long or infinite vectors.
    """
    people, scores = _scores("human", human), _scores("metric", metric)
    rows = len(people)
    _same_length("metric", len(scores), rows)
    unit, units = numbered("inputs", inputs, rows)
    system, count = (np.zeros(rows, dtype=np.int64), 1) if systems is None else numbered("systems", systems, rows)
    judged = ~np.isnan(people)
    kept = judged & ~np.isnan(scores)
    return Rows(people[kept], scores[kept], unit[kept], units, system[kept], count, int(judged.sum()))


def paired_rows(
    human: ArrayLike, a: ArrayLike, b: ArrayLike, inputs: Ids | None = None, systems: Ids | None = None
) -> tuple[Rows, Rows]:
    """The rows where both metrics ``a`` and ``b`` are defined, and the scores of each. Raises as `judged_rows`."""
    first, second = _scores("a", a), _scores("b", b)
    _same_length("b", len(second), len(first))
    gap = np.where(np.isnan(first) | np.isnan(second), np.nan, 0.0)
    return judged_rows(human, first + gap, inputs, systems), judged_rows(human, second + gap, inputs, systems)


def numbered(name: str, ids: Ids | None, rows: int) -> tuple[Ints, int]:
    """The number of each id (rows,) among the sorted ids, and how many; None: all differ. Raises ValueError."""
    if ids is None:
        return np.arange(rows), rows
    names = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    _same_length(name, len(names), rows)
    index = {
        name: number for number, name in enumerate(sorted(set(names), key=lambda name: (type(name).__name__, name)))
    }
    return np.array([index[name] for name in names], dtype=np.int64), len(index)


def members(groups: Sequence[str]) -> dict[str, Ints]:
    """The indices of the rows of each group; groups in order of first occurrence."""
    indices: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        indices.setdefault(group, []).append(index)
    return {group: np.array(rows) for group, rows in indices.items()}


def check_option(name: str, value: str, kind: Any) -> None:
    """Raise ValueError for a value that the Literal ``kind`` does not list."""
    if value not in get_args(kind):
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(get_args(kind))}")


def constant(values: Floats) -> bool:
    """Whether ``values`` (n,) are all equal, up to rounding."""
    return len(values) == 0 or bool(np.ptp(values) <= 1e-13 * np.abs(values).max())


def vector(name: str, values: ArrayLike) -> Floats:
    """``values`` (n,) as float64. Raises ValueError for another shape, or for none."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"{name} has shape {scores.shape}; a vector of at least one score is needed")
    return scores


def _scores(name: str, values: ArrayLike) -> Floats:
    scores = vector(name, values)
    if np.isinf(scores).any():
        row = int(np.flatnonzero(np.isinf(scores))[0])
        raise ValueError(f"{name} is infinite in row {row}; write NaN where a score is undefined")
    return scores


def _same_length(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"{name} has {length} entries for {rows} scores; there must be one per row")
