"""From a row as found in a file to a row of a corpus: which columns mean what, and what is wrong with a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rlsum.data.readers import NOT_UTF8, CorpusError, Read

RECORD_COLUMNS = ("source", "references")  # of the project's own JSONL records


@dataclass(frozen=True)
class Columns:
    """Column names. ``id`` None: the column ``id`` where there is one, else file and line; ``reference`` None: none."""

    id: str | None
    source: str
    reference: str | None

    @property
    def needed(self) -> list[str]:
        """Columns that some row must have."""
        return [name for name in (self.id, self.source, self.reference) if name is not None]


CNN_DAILYMAIL = Columns(None, "article", "highlights")


def choose_columns(asked: Columns, rows: Iterable[dict[str, Any]], path: str) -> Columns:
    """``asked``, or the columns of our own records where a row has those and not the defaults.

    Stops at the first row that settles it. Raises CorpusError when no row has the columns.
    """
    options = [asked]
    if asked.source == CNN_DAILYMAIL.source and asked.reference in (CNN_DAILYMAIL.reference, None):
        source, reference = RECORD_COLUMNS
        options.append(Columns(asked.id, source, reference if asked.reference else None))
    found: dict[str, None] = {}
    for row in rows:
        for columns in options:
            if all(name in row for name in columns.needed):
                return columns
        found.update(dict.fromkeys(row))
    missing = [name for name in asked.needed if name not in found] or asked.needed
    raise CorpusError(
        f"path={path!r}: no row has {' and '.join(missing)}; found: {', '.join(found) or 'nothing that can be read'}. "
        "Name the columns with source_column, reference_column and id_column"
    )


def clean(read: Read, columns: Columns) -> dict[str, Any]:
    """A corpus row: id, source, references (texts), problem ("" = none) and where; texts are empty if a problem."""
    problem = read.problem or _problem(read.fields, columns)
    row: dict[str, Any] = {"id": "", "source": "", "references": [], "problem": problem, "where": read.where}
    if not problem:
        identity = read.fields.get(columns.id or "id")
        row["id"] = read.name if identity is None else str(identity)
        row["source"] = read.fields[columns.source]
        row["references"] = _texts(read.fields[columns.reference]) if columns.reference else []
    return row


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _problem(fields: dict[str, Any], columns: Columns) -> str:
    for name in columns.needed:
        if fields.get(name) is None:
            return f"{name}: missing"
    if columns.id and not isinstance(fields[columns.id], str | int):
        return f"{columns.id}: neither text nor a number"
    if problem := _text_problem(fields[columns.source]):
        return f"{columns.source}: {problem}"
    if columns.reference:
        texts = _texts(fields[columns.reference])
        for problem in [_text_problem(text) for text in texts] or ["empty"]:
            if problem:
                return f"{columns.reference}: {problem}"
    return ""


def _text_problem(value: Any) -> str:
    if not isinstance(value, str):
        return "not text"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates: bad bytes of a CSV, or half a pair escaped in JSON
        return NOT_UTF8
    return "" if value.strip() else "empty"
