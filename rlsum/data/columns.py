"""From rows of a file to rows of a corpus: the meaning of columns, and the problems of rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from rewards.references import Lists, NotText, Undecided, members, one_text, reference_columns, references
from rlsum.readers import CorpusError, Read, encoding_problem, identity

Tokenizer = Literal["whitespace", "spacy"]  # of texts that a model has no tokenizer for
RECORD_COLUMNS = ("source", "references")  # of the project's own JSONL records


@dataclass(frozen=True)
class Columns:
    """Column names. The defaults are CNN/DailyMail's; if a file lacks both texts, those of our records.

    A text has a sentence a line; an article may be a list of sentences. Columns that differ in a number (``summary1``,
    ``summary2``) are several references, whichever is named; empty ones are left out.

    id                None: the column ``id`` if there is one, else file and line
    reference         None: no references
    optional          whether the corpus or a row may lack references
    further           columns that rewards read, besides references
    further_optional  whether a row may lack them
    lists             what a list of texts in the column of references is, ``alternatives`` or the ``sentences`` of
                      one; needed unless the column's name ends in ``references`` or ``summaries``: alternatives
    """

    id: str | None = None
    source: str = "article"
    reference: str | None = "highlights"
    optional: bool = False
    further: tuple[str, ...] = ()
    further_optional: bool = False
    lists: Lists | None = None
    present: tuple[str, ...] = ()  # columns of references in the file, once chosen
    listed: bool = False  # whether its articles are lists of sentences

    def missing(self, fields: Collection[str], needed: bool = False) -> list[str]:
        """The named columns that a row with ``fields`` lacks; ``needed``: only those that it must have."""
        reference = None if needed and self.optional else self.reference
        present = {*fields, *([reference] if reference and self.alternatives(fields) else [])}
        return [name for name in (self.id, self.source, reference) if name is not None and name not in present]

    def alternatives(self, fields: Collection[str]) -> tuple[str, ...]:
        """The columns of references among ``fields``."""
        fixed = self.fixed
        named = reference_columns(self.reference or "", tuple(name for name in fields if name not in fixed))
        return tuple(name for name in named if name in fields)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The columns that hold no references."""
        return (self.source, *([self.id] if self.id else []), *self.further)


CNN_DAILYMAIL = Columns()


def choose_columns(layout: Columns, reads: Iterable[Read], path: str) -> Columns:
    """``layout``, or the columns of our records if only these are present. Raises CorpusError if no row has them."""
    options = [layout]
    if layout.source == CNN_DAILYMAIL.source and layout.reference in (CNN_DAILYMAIL.reference, None):
        source, *names = *RECORD_COLUMNS, "reference"
        options += [replace(layout, source=source, reference=name if layout.reference else None) for name in names]
    names_seen: dict[str, None] = {}
    first: Read | None = None
    for read in reads:
        first = first or read
        for columns in options:
            if not columns.missing(read.fields):
                listed = members(read.fields[columns.source]) is not None
                return replace(columns, present=columns.alternatives(read.fields), listed=listed)
        names_seen.update(dict.fromkeys(read.fields))
    for columns in options:
        if not columns.missing(names_seen, needed=True):
            return replace(columns, present=columns.alternatives(names_seen))
    if first is None:
        raise CorpusError(f"path={path!r}: no rows; give a file with articles")
    if not names_seen:
        raise CorpusError(
            f"path={path!r}: no row can be read ({first.where}: {first.problem}); JSONL needs an object per line, "
            "CSV a header and a row per article"
        )
    missing = layout.missing(names_seen, needed=True) or layout.missing((), needed=True)
    raise CorpusError(
        f"path={path!r}: no row has {' and '.join(missing)}; found: {', '.join(names_seen)}. "
        "Name the columns with source_column, reference_column and id_column"
    )


def clean(read: Read, columns: Columns) -> dict[str, Any]:
    """A corpus row: id, source, references, problem ("": none) and where. With a problem, the texts are empty.

    With further columns also ``columns``, their values as a JSON object. Raises CorpusError for a list of which nothing
    says what it is.
    """
    row: dict[str, Any] = {"id": "", "source": "", "references": [], "problem": read.problem, "where": read.where}
    if columns.further:
        row["columns"] = ""
    if not read.problem:
        try:
            row |= _row(read, columns)
        except Undecided as error:
            raise CorpusError(f"{read.where}: {error}") from error
        except NotText as error:
            row["problem"] = str(error)
    return row


def _row(read: Read, columns: Columns) -> dict[str, Any]:
    """What a row holds. Raises NotText."""
    fields = read.fields
    if missing := columns.missing([name for name, value in fields.items() if value is not None], needed=True):
        raise NotText(f"{missing[0]}: missing")
    cell = fields.get(columns.id or "id")
    named = read.name if cell is None else identity(cell)
    if named is None and columns.id:
        raise NotText(f"{columns.id}: neither text nor a whole number")
    named = str(cell) if named is None else named
    if problem := encoding_problem(named):
        raise NotText(f"{columns.id or 'id'}: {problem}")
    row: dict[str, Any] = {"id": named, "source": _text(fields, columns.source), "references": []}
    if columns.reference is not None:
        row["references"] = references(fields, columns.reference, columns.lists, columns.fixed)
        problems = [*map(encoding_problem, row["references"]), "" if row["references"] or columns.optional else "empty"]
        if any(problems):
            raise NotText(f"{columns.reference}: {next(filter(None, problems))}")
    if columns.further:
        row["columns"] = _further(fields, columns)
    return row


def _text(fields: Mapping[str, Any], name: str) -> str:
    try:
        text = one_text(fields[name])
    except NotText as error:
        raise NotText(f"{name}: {error}") from error
    if problem := encoding_problem(text) or ("" if text.strip() else "empty"):
        raise NotText(f"{name}: {problem}")
    return text


def _further(fields: Mapping[str, Any], columns: Columns) -> str:
    for name in columns.further:
        if name not in fields and not columns.further_optional:
            raise NotText(f"{name}: missing")
        try:
            json.dumps(fields.get(name))
        except (TypeError, ValueError):
            raise NotText(f"{name}: a {type(fields[name]).__name__}, which JSON does not have") from None
    return json.dumps({name: fields[name] for name in columns.further if name in fields})
