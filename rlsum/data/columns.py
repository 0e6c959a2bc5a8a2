"""From rows of a file to rows of a corpus: the meaning of columns, and the problems of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from rlsum.readers import CorpusError, Read, encoding_problem

RECORD_COLUMNS = ("source", "references")  # of the project's own JSONL records


@dataclass(frozen=True)
class Columns:
    """Column names.

    id                None: the column ``id`` if there is one, else file and line
    reference         None: no references
    optional          whether the corpus or a row may lack references
    further           columns that rewards read, besides references
    further_optional  whether a row may lack them
    """

    id: str | None
    source: str
    reference: str | None
    optional: bool = False
    further: tuple[str, ...] = ()
    further_optional: bool = False

    @property
    def named(self) -> list[str]:
        """All columns that have a name."""
        return [name for name in (self.id, self.source, self.reference) if name is not None]

    @property
    def needed(self) -> list[str]:
        """The columns that a row must have."""
        return [name for name in self.named if not (self.optional and name == self.reference)]


CNN_DAILYMAIL = Columns(None, "article", "highlights")


def choose_columns(asked: Columns, reads: Iterable[Read], path: str) -> Columns:
    """``asked``, or the columns of our records if only these are present. Raises CorpusError if no row has them."""
    options = [asked]
    if asked.source == CNN_DAILYMAIL.source and asked.reference in (CNN_DAILYMAIL.reference, None):
        source, reference = RECORD_COLUMNS
        options.append(replace(asked, source=source, reference=reference if asked.reference else None))
    found: dict[str, None] = {}
    first: Read | None = None
    for read in reads:
        first = first or read
        for columns in options:
            if all(name in read.fields for name in columns.named):
                return columns
        found.update(dict.fromkeys(read.fields))
    for columns in options:
        if all(name in found for name in columns.needed):
            return columns
    if first is None:
        raise CorpusError(f"path={path!r}: no rows; give a file with articles")
    if not found:
        raise CorpusError(
            f"path={path!r}: no row can be read ({first.where}: {first.problem}); JSONL needs an object per line, "
            "CSV a header and a row per article"
        )
    missing = [name for name in asked.needed if name not in found] or asked.needed
    raise CorpusError(
        f"path={path!r}: no row has {' and '.join(missing)}; found: {', '.join(found)}. "
        "Name the columns with source_column, reference_column and id_column"
    )


def clean(read: Read, columns: Columns) -> dict[str, Any]:
    """A corpus row: id, source, references, problem ("": none) and where. With a problem, the texts are empty.

    With further columns also ``columns``, their values as a JSON object.
    """
    problem = read.problem or _problem(read.fields, columns)
    row: dict[str, Any] = {"id": "", "source": "", "references": [], "problem": problem, "where": read.where}
    if not problem:
        identity = read.fields.get(columns.id or "id")
        row["id"] = read.name if identity is None else str(identity)
        row["source"] = read.fields[columns.source]
        row["references"] = _references(read.fields, columns)
    if columns.further:
        values = {name: read.fields[name] for name in columns.further if name in read.fields}
        row["columns"] = "" if problem else json.dumps(values)
    return row


def _references(fields: dict[str, Any], columns: Columns) -> list[Any]:
    """The references; none if the corpus has none, or if they are optional and all of the row's are empty."""
    value = fields.get(columns.reference) if columns.reference else None
    texts = value if isinstance(value, list) else [value]
    empty = all(text is None or (isinstance(text, str) and not text.strip()) for text in texts)
    return [] if columns.reference is None or (columns.optional and empty) else texts


def _problem(fields: dict[str, Any], columns: Columns) -> str:
    for name in columns.needed:
        if fields.get(name) is None:
            return f"{name}: missing"
    if columns.id and not isinstance(fields[columns.id], str | int):
        return f"{columns.id}: neither text nor a number"
    if problem := encoding_problem(fields.get(columns.id or "id")):
        return f"{columns.id or 'id'}: {problem}"
    if problem := _text_problem(fields[columns.source]):
        return f"{columns.source}: {problem}"
    texts = _references(fields, columns)
    if columns.reference and (texts or not columns.optional):
        for problem in [_text_problem(text) for text in texts] or ["empty"]:
            if problem:
                return f"{columns.reference}: {problem}"
    for name in columns.further:
        if name not in fields and not columns.further_optional:
            return f"{name}: missing"
        try:
            json.dumps(fields.get(name))
        except (TypeError, ValueError):
            return f"{name}: a {type(fields[name]).__name__}, which JSON does not have"
    return ""


def _text_problem(value: Any) -> str:
    if not isinstance(value, str):
        return "not text"
    return encoding_problem(value) or ("" if value.strip() else "empty")
