"""``Judgment``, what people said of one text, and the JSONL of judgments that every command reads.

A line holds ``{"id", "system", "candidate", "references": [...], "source", "group", "scores": {"overall": 0.5},
"raw_scores": {"overall": [0.25, 0.75]}}``. Source, group, scores and raw scores may be missing, a score may be null.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rlsum.data.readers import Read, jsonl
from rlsum.records import RecordError

NEEDED = ("id", "system", "candidate", "references")
OPTIONAL = ("source", "group", "scores", "raw_scores")


@dataclass(frozen=True)
class Judgment:
    """One text and its human scores, higher is better; an item (``group``, ``id``) is judged for each ``system``.

    ``group``: what correlations are taken within before they are averaged (a language pair, a topic); "" is one group.
    ``scores``: name -> score, None where it is missing. ``raw_scores``: name -> the score of each judge, None where
    that judge gave none.
    """

    id: str
    system: str
    candidate: str
    references: tuple[str, ...]
    source: str = ""
    group: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    raw_scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What no two judgments of a file share: group, item and system."""
        return self.group, self.id, self.system

    def to_json(self) -> str:
        """One line of JSON, as it is read."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_jsonl(path: Path) -> list[Judgment]:
    """The judgments of a JSONL file (gzip where its name ends in .gz).

    Raises RecordError naming the first line that is wrong: a row left out would change every correlation.
    """
    try:
        return unique((row.where, _judgment(row)) for row in jsonl(path))
    except (OSError, EOFError, zlib.error) as error:  # damaged gzip is any of three
        raise RecordError(f"{path}: cannot be read ({error}); give the path of a JSONL file of judgments") from error


def unique(found: Any) -> list[Judgment]:
    """Judgments from pairs of (where, judgment). Raises RecordError where one is there twice."""
    places: dict[tuple[str, str, str], str] = {}
    judgments = []
    for where, judgment in found:
        if judgment.key in places:
            of = f" of group {judgment.group!r}" if judgment.group else ""
            raise RecordError(
                f"{where}: id {judgment.id!r} of system {judgment.system!r}{of} is at {places[judgment.key]}, too; "
                "give each judged text an id, or a system, of its own"
            )
        places[judgment.key] = where
        judgments.append(judgment)
    return judgments


def number(value: Any) -> float | None:
    """A score: a finite number or None. Raises ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{json.dumps(value)[:40]} is no number")
    return float(value)


def _judgment(row: Read) -> Judgment:
    if row.problem:
        raise RecordError(f"{row.where}: {row.problem}; one JSON object a line is expected")
    fields = row.fields
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        shown = ", ".join((*NEEDED, *OPTIONAL))
        raise RecordError(f"{row.where}: missing {', '.join(missing)}; a judgment has {shown}")
    if isinstance(fields["id"], bool) or not isinstance(fields["id"], str | int):
        raise RecordError(f"{row.where}: id must be text or a whole number, not {json.dumps(fields['id'])[:40]}")
    texts = {name: fields.get(name, "") for name in ("system", "candidate", "source", "group")}
    wrong = [name for name, value in texts.items() if not isinstance(value, str)]
    references = fields["references"]
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        wrong.append("references")
    if wrong:
        raise RecordError(f"{row.where}: {', '.join(wrong)} must be text (references: a list of texts)")
    return Judgment(
        id=str(fields["id"]),
        references=tuple(references),
        scores={name: _score(row.where, f"scores.{name}", value) for name, value in _named(row, "scores")},
        raw_scores={name: _judges(row.where, name, values) for name, values in _named(row, "raw_scores")},
        **texts,
    )


def _named(row: Read, field_name: str) -> Sequence[tuple[str, Any]]:
    named = row.fields.get(field_name, {})
    if not isinstance(named, dict):
        raise RecordError(f'{row.where}: {field_name} must be an object of scores by name, as {{"overall": 0.5}}')
    return list(named.items())


def _score(where: str, name: str, value: Any) -> float | None:
    try:
        return number(value)
    except (ValueError, OverflowError) as error:
        raise RecordError(f"{where}: {name}: {error}; give a finite number, or null where it is missing") from error


def _judges(where: str, name: str, values: Any) -> tuple[float | None, ...]:
    if not isinstance(values, list):
        raise RecordError(f"{where}: raw_scores.{name} must be a list with a score for each judge, as [0.5, null, 1]")
    return tuple(_score(where, f"raw_scores.{name}", value) for value in values)
