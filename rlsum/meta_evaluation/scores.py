"""Judgments and metrics -> a table of scores: one row per judged text, one column per metric, and the human score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from rewards.base import Reward, complete
from rewards.options import nearest
from rewards.specs import Spec, as_spec
from rewards.text.identification import read_as_english
from rewards.text.words import LETTER_WORD, nfc, pattern, words
from rlsum.errors import UserError, option
from rlsum.evaluation.rows import Floats, members
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.meta_evaluation.cache import cached_scores
from rlsum.records import ColumnCheck

Progress = Callable[[str, int], None]  # called with a metric's label and the number of rows just scored
LengthUnit = Literal["letters", "words", "whitespace", "characters"]

COUNTS: dict[LengthUnit, tuple[Callable[[str], int], str]] = {
    "letters": (lambda text: len(pattern(LETTER_WORD).findall(nfc(text))), "words of letters"),
    "words": (lambda text: len(words(text)), "words of letters and digits"),
    "whitespace": (lambda text: len(text.split()), "runs without white space"),
    "characters": (len, "characters"),
}


@dataclass(frozen=True)
class Column:
    """One metric's scores (n,) float64, higher is better, NaN = undefined; ``undefined`` counts those by reason."""

    scores: Floats
    signature: str
    kind: Literal["metric", "length"] = "metric"
    undefined: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgeScores:
    """Scores of single judges (n, judges), NaN where missing. ``named``: a column is one person in all rows."""

    scores: Floats
    named: bool


@dataclass(frozen=True)
class ScoreTable:
    """n judged texts in the order of the data, each with a human score.

    ``human`` (n,) float64. ``inputs`` (n,) name the input of each text as (group, id); ``systems`` and ``groups`` (n,)
    its system and its group. ``columns`` maps label -> scores, metrics first, then lengths. ``left_out`` counts the
    judgments that are not in the table, by reason.
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
        """The labels of the metrics."""
        return [label for label, column in self.columns.items() if column.kind == "metric"]

    @property
    def lengths(self) -> list[str]:
        """The labels of the lengths."""
        return [label for label, column in self.columns.items() if column.kind == "length"]

    def scores(self, label: str) -> Floats:
        """The scores (n,) of a column."""
        return self.columns[label].scores


def scored(
    judgments: Judgments,
    metrics: Mapping[str, Reward],
    *,
    score: str = "overall",
    length: Sequence[LengthUnit] = ("letters",),
    cache: Path | None = None,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score every judged text with ``metrics`` (label -> reward, as from `rewards.from_specs`).

    Each group is scored separately and in the order of the data, so batch centering uses batches of one group.
    ``length`` names the lengths to add as columns. ``cache`` is a file from `cache.scores_file`, None for none. Rows
    without the human ``score`` are left out and counted. Raises UserError if no row has that score or a row lacks a
    column that a metric needs, and RewardError as ``check_scores``.
    """
    if unknown := [unit for unit in length if unit not in COUNTS]:
        raise UserError(f"length={unknown[0]!r} is unknown; use a list of {', '.join(COUNTS)}")
    rows, left_out = _rated(judgments, score)
    metrics = {label: complete(metric) for label, metric in metrics.items()}
    columns_read = ColumnCheck(metrics.values())
    for row in rows:
        columns_read.check(f"{judgments.name}, id {row.id!r} of {row.system!r}", row.columns)
    columns = {label: _column(label, metric, rows, cache, progress) for label, metric in metrics.items()}
    for unit in length:
        about = f"length of the candidate: {COUNTS[unit][1]}"
        columns[f"length ({unit})"] = Column(lengths(rows, unit), about, "length")
    signatures = {label: column.signature for label, column in columns.items() if column.kind == "metric"}
    english = read_as_english(
        signatures, (next(iter(row.references), row.candidate) for row in rows), option("language", "")
    )
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
        notes=(*judgments.notes, *(line.rstrip(".") for line in english)),
    )


def lengths(rows: Sequence[Judgment], unit: LengthUnit) -> Floats:
    """The length of each candidate (n,) in ``unit`` (see ``COUNTS``)."""
    count, _ = COUNTS[unit]
    return np.array([count(row.candidate) for row in rows], dtype=np.float64)


def judge_scores(rows: Sequence[Judgment], score: str) -> JudgeScores | None:
    """The scores of single judges; None if there are none of this name. Named if every row that has some names them."""
    raw = [np.array(row.raw_scores.get(score, ()), dtype=np.float64) for row in rows]  # None becomes NaN
    judged = [row for row, values in zip(rows, raw, strict=True) if len(values)]
    if all(np.isnan(values).all() for values in raw):
        return None
    named = all(row.judges and len(set(row.judges)) == len(row.judges) for row in judged)
    people = sorted({judge for row in judged for judge in row.judges}) if named else []
    column_of = {judge: column for column, judge in enumerate(people)}
    scores = np.full((len(rows), len(people) or max(map(len, raw))), np.nan)
    for line, (row, values) in enumerate(zip(rows, raw, strict=True)):
        columns = [column_of[judge] for judge in row.judges] if named and len(values) else range(len(values))
        scores[line, columns] = values
    return JudgeScores(scores, named)


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Label -> label without the options that all metrics of its name share; unchanged if that is not unique."""
    specs = {label: as_spec(label) if "(" in label else Spec(label, {}) for label in labels}
    short = {
        label: str(_without_shared(spec, specs.values())) if spec.options else label for label, spec in specs.items()
    }
    names = list(short.values())
    return {label: name if names.count(name) == 1 else label for label, name in short.items()}


def _without_shared(spec: Spec, all_specs: Iterable[Spec]) -> Spec:
    same_name = [member.options for member in all_specs if member.name == spec.name]
    if len(same_name) == 1:
        return spec
    distinct = {
        key: value for key, value in spec.options.items() if any(options.get(key) != value for options in same_name)
    }
    return Spec(spec.name, distinct)


def _rated(judgments: Judgments, score: str) -> tuple[list[Judgment], dict[str, int]]:
    """The rows with a human score, and the counts of all others by reason. Raises UserError if no row has it."""
    rows = [row for row in judgments.rows if row.scores.get(score) is not None]
    if not rows:
        names = [*dict.fromkeys(name for row in judgments.rows for name, at in row.scores.items() if at is not None)]
        choices = f"there are {', '.join(names)}" if names else "no row has any score"
        raise UserError(f"{judgments.name}: no row has the score {score!r}{nearest(score, names)}; {choices}")
    missing = len(judgments.rows) - len(rows)
    return rows, {**judgments.left_out, **({f"without a score {score!r}": missing} if missing else {})}


def _column(
    label: str, metric: Reward, rows: Sequence[Judgment], cache: Path | None, progress: Progress | None
) -> Column:
    groups = list(members([row.group for row in rows]).values())
    judged = [[rows[index] for index in group] for group in groups]
    results = cached_scores(metric, judged, cache, lambda count: progress(label, count) if progress else None)
    scores = np.full(len(rows), np.nan)
    for group, values in zip(groups, results, strict=True):
        scores[group] = values
    missing = [rows[index] for index in np.flatnonzero(np.isnan(scores)).tolist()]
    reasons = (metric.undefined(row.candidate, row.references, row.source, row.columns) for row in missing)
    undefined = Counter(reason or "no reason given" for reason in reasons)
    return Column(scores, metric.signature, "metric", dict(undefined.most_common()))
