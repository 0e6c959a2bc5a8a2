"""Judgments and metrics -> a table of scores: one row a judged text, one column a metric, the human score beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.base import complete
from rewards.options import nearest
from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.meta_evaluation.baselines import COUNTED, JudgeScores, Unit, judge_scores, lengths
from rlsum.meta_evaluation.cache import remembered
from rlsum.records import ColumnCheck

if TYPE_CHECKING:
    from rewards.base import Reward

Floats = NDArray[np.float64]
Progress = Callable[[str, int], None]  # a metric's label, and how many rows of it have just been scored
Kind = Literal["metric", "length"]


@dataclass(frozen=True)
class Column:
    """One metric's scores (n,) float64, higher is better, NaN = undefined; ``undefined`` counts those by reason.

    ``signature`` is the metric's; of a length it says what was counted.
    """

    scores: Floats
    signature: str
    kind: Kind = "metric"
    undefined: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoreTable:
    """n judged texts in the order of the data, none without the human score.

    ``human`` (n,) float64. ``inputs`` (n,) name what each text was written for, within its group; ``systems`` and
    ``groups`` (n,) who wrote it and to what part of the data it belongs. ``columns`` maps label -> scores, metrics
    first, then lengths. ``left_out`` counts by reason what the data hold and the table does not.
    """

    name: str
    score: str
    human: Floats
    inputs: tuple[tuple[str, str], ...]
    systems: tuple[str, ...]
    groups: tuple[str, ...]
    columns: Mapping[str, Column]
    judges: JudgeScores | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.human)

    @property
    def metrics(self) -> list[str]:
        """The labels of the metrics, without the lengths."""
        return [label for label, column in self.columns.items() if column.kind == "metric"]

    @property
    def lengths(self) -> list[str]:
        """The labels of the lengths."""
        return [label for label, column in self.columns.items() if column.kind == "length"]

    def scores(self, label: str) -> Floats:
        """The scores (n,) of a column."""
        return self.columns[label].scores

    def with_column(self, label: str, column: Column) -> ScoreTable:
        """The same table with one more column."""
        return replace(self, columns={**self.columns, label: column})


def scored(
    judgments: Judgments,
    metrics: Mapping[str, Reward],
    *,
    score: str = "overall",
    length: Sequence[Unit] = ("letters",),
    cache: Path | None = None,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score every judged text with ``metrics`` (label -> reward, as `rewards.from_specs` makes them).

    Each group is scored apart and in the order of the data, so a metric with batch centering has batch mates of one
    language pair or topic. ``length`` names the lengths that become columns beside the metrics. ``cache`` is the file
    of `cache.scores_file`; None remembers nothing. Rows without the human ``score`` are left out and counted.
    Raises UserError where no row has that score, a row lacks a column that a metric needs, or a metric is infinite, and
    whatever a metric raises.
    """
    rows = [row for row in judgments.rows if row.scores.get(score) is not None]
    _check_score(judgments, score, len(rows))
    missing = len(judgments.rows) - len(rows)
    left_out = {**judgments.left_out, **({f"without a score {score!r}": missing} if missing else {})}
    metrics = {label: complete(metric) for label, metric in metrics.items()}
    columns_read = ColumnCheck(metrics.values())
    for row in rows:
        columns_read.check(f"{judgments.name}, id {row.id!r} of {row.system!r}", row.columns)
    columns = {label: _column(label, metric, rows, cache, progress) for label, metric in metrics.items()}
    for unit in length:
        columns[f"length ({unit})"] = Column(lengths(rows, unit), f"length of the candidate: {COUNTED[unit]}", "length")
    return ScoreTable(
        name=judgments.name,
        score=score,
        human=np.array([row.scores[score] for row in rows], dtype=np.float64),
        inputs=tuple((row.group, row.id) for row in rows),
        systems=tuple(row.system for row in rows),
        groups=tuple(row.group for row in rows),
        columns=columns,
        judges=judge_scores(rows, score),
        left_out=left_out,
        notes=tuple(judgments.notes),
    )


def _check_score(judgments: Judgments, score: str, rows: int) -> None:
    if rows:
        return
    known = list(
        dict.fromkeys(name for row in judgments.rows for name, value in row.scores.items() if value is not None)
    )
    told = f"there are {', '.join(known)}" if known else "no row has any score"
    raise UserError(f"{judgments.name}: no row has the score {score!r}{nearest(score, known)}; {told}")


def _column(
    label: str, metric: Reward, rows: Sequence[Judgment], cache: Path | None, progress: Progress | None
) -> Column:
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.group, []).append(place)
    parts = [[rows[place] for place in chosen] for chosen in places.values()]
    found = remembered(metric, parts, cache, lambda count: progress(label, count) if progress else None)
    scores = np.full(len(rows), np.nan)
    for chosen, values in zip(places.values(), found, strict=True):
        if values.shape != (len(chosen),):
            raise UserError(f"{label} returned shape {values.shape} for {len(chosen)} texts; one number each is needed")
        scores[chosen] = values
    infinite = np.flatnonzero(np.isinf(scores))
    if len(infinite):
        row = rows[infinite[0]]
        raise UserError(f"{label} is infinite for id {row.id!r} of {row.system!r}; it must return NaN where undefined")
    undefined = Counter(_reason(metric, rows[place]) for place in np.flatnonzero(np.isnan(scores)).tolist())
    return Column(scores, metric.signature, "metric", dict(undefined.most_common()))


def _reason(metric: Reward, row: Judgment) -> str:
    return metric.undefined(row.candidate, row.references, row.source, row.columns) or "no reason given"
