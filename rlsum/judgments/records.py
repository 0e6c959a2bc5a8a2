"""``Judgment``, the human scores of one text, and the JSONL of judgments that every command reads.

A line is ``{"id", "system", "candidate", "references": [...], "source", "group", "scores": {"overall": 0.5},
"raw_scores": {"overall": [0.25, 0.75]}, "judges": ["ann", "bo"], "marks": [[[12, 20]], []]}``. The fields after the
references are optional, and a score may be null. An unknown field is an error, because a misspelt one would be lost
silently.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat

from rlsum import parsing
from rlsum.errors import RecordError
from rlsum.files import write_lines
from rlsum.readers import Read, identity
from rlsum.records import RecordTexts, of_table, reference_fields

NEEDED = ("id", "system", "candidate", "references")
OPTIONAL = ("source", "group", "scores", "raw_scores", "judges", "marks")
FIELDS = (*NEEDED, *OPTIONAL)
KNOWN = (*FIELDS, "reference", "undefined")  # of every record of outputs, too
LARGEST = 1e60  # the fourth powers of much larger scores are infinite


@dataclass(frozen=True)
class Judgment:
    """One text by ``system`` for the input (``group``, ``id``), and its human scores: higher is better.

    ``group``: a language pair or topic; correlations may be taken within groups and averaged. "" is a group, too.
    ``scores``: name -> score, None if missing. ``raw_scores``: name -> the score of each judge, None if that judge gave
    none. ``judges`` names the judges in that order; if it is empty they are anonymous, and the same position in two
    rows may be different people. ``marks``: for each judge, the errors that this judge marked in the candidate: the
    first character, from 0, and the one after the last. ``columns``: other fields of the data, for rewards that read
    them.
    """

    id: str
    system: str
    candidate: str
    references: tuple[str, ...]
    source: str = ""
    group: str = ""
    scores: Mapping[str, FiniteFloat | None] = field(default_factory=dict)
    raw_scores: Mapping[str, tuple[FiniteFloat | None, ...]] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    marks: tuple[tuple[tuple[int, int], ...], ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """Group, input and system: unique within a file."""
        return self.group, self.id, self.system

    def to_json(self) -> str:
        """One line of JSON, without empty optional fields."""
        row = {name: getattr(self, name) for name in FIELDS}
        filled = {name: value for name, value in row.items() if value or name in NEEDED}
        return json.dumps({**filled, **self.columns}, ensure_ascii=False, allow_nan=False, default=of_table)


def write_jsonl(path: str | Path, judgments: Iterable[Judgment]) -> int:
    """Write judgments as JSONL, see ``write_lines``."""
    return write_lines(path, (judgment.to_json() for judgment in judgments))


def parse(row: Read, columns: Collection[str] = (), texts: RecordTexts | None = None) -> Judgment:
    """The judgment of one row, with those of ``columns`` that it has. Raises RecordError with row, field and fix."""
    where = row.where
    if row.problem:
        raise RecordError(f"{where}: {row.problem}; one JSON object per line is expected")
    further = {name: row.fields[name] for name in columns if name in row.fields and name not in FIELDS}
    fields = {name: value for name, value in row.fields.items() if name not in (*further, "undefined")}
    if "candidate" in fields and reference_fields(fields):
        fields = (texts or RecordTexts(where))(where, fields)
    if (named := identity(fields.get("id"))) is not None:
        fields["id"] = named
    judgment = parsing.parse(Judgment, fields, where, RecordError, FIELDS)
    if not judgment.id:
        raise RecordError(f"{where}: id is empty")
    if any(abs(score or 0) > LARGEST for score in chain(judgment.scores.values(), *judgment.raw_scores.values())):
        raise RecordError(f"{where}: a score beyond {LARGEST:g}; give all scores on a smaller scale")
    for name, values in judgment.raw_scores.items():
        if judgment.judges and len(values) != len(judgment.judges):
            counts = f"{len(values)} scores of {len(judgment.judges)} judges"
            raise RecordError(f"{where}: raw_scores.{name}: {counts}; give one per judge, null if missing")
    if judgment.marks and len(judgment.marks) != len(judgment.judges):
        counts = f"marks of {len(judgment.marks)} judges, and {len(judgment.judges)} names"
        raise RecordError(f"{where}: {counts}; give a list of marks per judge, [] if there are none")
    for start, end in chain.from_iterable(judgment.marks):
        if not 0 <= start < end <= len(judgment.candidate):
            raise RecordError(f"{where}: marks: {start} to {end} is no part of a text of {len(judgment.candidate)}")
    if "" in (*judgment.scores, *judgment.raw_scores):
        raise RecordError(f"{where}: a score has an empty name")
    return replace(judgment, columns=further)
