"""Judged rows: human scores beside the scores of a metric, with the input and the system of every row.

The statistics of meta-evaluation all start here. A row is one candidate text that people judged; its *input* is what
it was written for (an article, a source sentence), its *system* is who wrote it. Rows where either score is undefined
(NaN) are left out and counted, never filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """n rows with both scores defined.

    ``human`` and ``metric`` (n,) float64; ``unit`` (n,) the number of each row's input, below ``units``, which is what
    is resampled as a whole; ``system`` (n,) the number of each row's system, below ``systems``; ``judged`` how many
    rows have a human score, whether or not the metric is defined there.
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
        """The share of the judged rows on which the metric is defined; NaN where nothing was judged."""
        return len(self) / self.judged if self.judged else float("nan")

    @property
    def repeated(self) -> bool:
        """Whether some input has several rows, so that rows are not independent of each other."""
        return len(np.unique(self.unit)) < len(self)

    def where(self, kept: NDArray[np.bool_]) -> Rows:
        """The rows that are ``kept`` (n,); units and systems keep their numbers."""
        return replace(
            self,
            human=self.human[kept],
            metric=self.metric[kept],
            unit=self.unit[kept],
            system=self.system[kept],
        )

    def apart(self) -> Rows:
        """The same rows, each a unit of its own."""
        return replace(self, unit=np.arange(len(self)), units=len(self))


def judged_rows(human: ArrayLike, metric: ArrayLike, inputs: Ids | None = None, systems: Ids | None = None) -> Rows:
    """The rows on which ``human`` (n,) and ``metric`` (n,) are both defined.

    ``inputs`` and ``systems`` (n,) are any hashable names; without ``inputs`` each row has its own, without
    ``systems`` all rows come from one. Numbers follow the sorted names, so the order of the rows changes nothing.
    Raises ValueError for empty, unequally long or infinite vectors.
    """
    scores, written = _scores("human", human), _scores("metric", metric)
    rows = len(scores)
    _same_length("metric", len(written), rows)
    unit, units = numbered("inputs", inputs, rows)
    system, count = (np.zeros(rows, dtype=np.int64), 1) if systems is None else numbered("systems", systems, rows)
    kept = ~np.isnan(scores) & ~np.isnan(written)
    judged = int((~np.isnan(scores)).sum())
    return Rows(scores[kept], written[kept], unit[kept], units, system[kept], count, judged)


def paired_rows(
    human: ArrayLike, a: ArrayLike, b: ArrayLike, inputs: Ids | None = None, systems: Ids | None = None
) -> tuple[Rows, Rows]:
    """The rows of metric ``a`` and of metric ``b`` where both are defined: the same rows, twice.

    Raises ValueError as `judged_rows` does.
    """
    first, second = _scores("a", a), _scores("b", b)
    _same_length("b", len(second), len(first))
    gap = np.where(np.isnan(first) | np.isnan(second), np.nan, 0.0)
    return judged_rows(human, first + gap, inputs, systems), judged_rows(human, second + gap, inputs, systems)


def numbered(name: str, ids: Ids | None, rows: int) -> tuple[Ints, int]:
    """The place of each id (rows,) among the sorted distinct ids, and how many there are; without ids, all differ.

    Raises ValueError, naming the vector, where there are not as many ids as rows.
    """
    if ids is None:
        return np.arange(rows), rows
    names = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    _same_length(name, len(names), rows)
    places = {identity: place for place, identity in enumerate(sorted(set(names), key=_order))}
    return np.array([places[identity] for identity in names], dtype=np.int64), len(places)


def constant(values: Floats) -> bool:
    """Whether ``values`` (n,) are all one number, up to the rounding of its last digits."""
    return len(values) == 0 or bool(np.ptp(values) <= 1e-13 * np.abs(values).max())


def _scores(name: str, values: ArrayLike) -> Floats:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"{name} has shape {scores.shape}; a vector of at least one score is needed")
    if np.isinf(scores).any():
        row = int(np.flatnonzero(np.isinf(scores))[0])
        raise ValueError(f"{name} is infinite in row {row}; write NaN where a score is undefined")
    return scores


def _order(identity: Any) -> tuple[str, Any]:
    return type(identity).__name__, identity


def _same_length(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"{name} has {length} entries for {rows} scores; there must be one for each row")
