"""Converts outputs of other systems, a column for each system, to records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.references import Lists, NotText, one_text, reference_columns, references
from rlsum.readers import CorpusError, Read, Understood, identity, records
from rlsum.records import Output


@dataclass(frozen=True)
class OutputColumns:
    """Columns of the file: the system's text; if present, the reference (a text or a list of texts) and the article."""

    candidate: str
    reference: str | None
    source: str | None = None
    id: str = "id"


def read_articles(path: str | Path, column: str = "article", id_column: str = "id") -> dict[str, str]:
    """Articles by id, from a JSONL, CSV or parquet file. Raises CorpusError for a row without id or article."""
    articles: dict[str, str] = {}
    for read in _rows(path):
        articles[_identity(read, id_column)] = _text(read, column)
    return articles


def convert(
    path: str | Path,
    columns: OutputColumns,
    system: str,
    articles: Mapping[str, str] | None = None,
    lists: Lists | None = None,
) -> Iterator[Output]:
    """Every row of ``path`` as an Output of ``system``; texts are unchanged, a line is a sentence.

    Rows without ``id`` are numbered, as by `read_outputs`, unless another column or ``articles`` are given.
    The source is the article of ``articles`` with the row's id, else the column ``columns.source``, else "". Raises
    CorpusError for the first row that lacks a field or an article: fewer rows would not be comparable.
    """
    read, understood = None, Understood(str(path), lists)
    for number, read in enumerate(_rows(path), 1):
        numbered = articles is None and columns.id == "id" and "id" not in read.fields
        named = str(number) if numbered else _identity(read, columns.id)
        candidate = _text(read, columns.candidate)
        fields, texts = _references(read, columns, lists)
        articles_in = [columns.source] if columns.source else []
        understood.add(len(texts), candidates=[columns.candidate], references=fields, articles=articles_in)
        yield Output(named, _source(read, named, columns, articles), texts, candidate, system)
    if read is None:
        raise CorpusError(f"{path}: no rows; give a JSONL, CSV or parquet file with an output a row")
    understood.say()


def _references(read: Read, columns: OutputColumns, lists: Lists | None) -> tuple[list[str], tuple[str, ...]]:
    """The columns of a row that hold references, and the texts."""
    if columns.reference is None:
        return [], ()
    others = (columns.candidate, columns.id, *([columns.source] if columns.source else []))
    named = reference_columns(columns.reference, tuple(name for name in read.fields if name not in others))
    if not any(name in read.fields for name in named):
        _field(read, columns.reference)  # raises
    try:
        texts = references(read.fields, columns.reference, lists, others)
    except NotText as error:
        raise CorpusError(f"{read.where}: {error}") from error
    if not texts:
        raise CorpusError(f"{read.where}: {columns.reference!r} is empty; correct or delete this row")
    return [name for name in named if name in read.fields], tuple(texts)


def _source(read: Read, identity: str, columns: OutputColumns, articles: Mapping[str, str] | None) -> str:
    if articles is not None:
        if identity not in articles:
            raise CorpusError(f"{read.where}: no article has the id {identity!r}; give the articles of all outputs")
        return articles[identity]
    return _text(read, columns.source) if columns.source else ""


def _rows(path: str | Path) -> Iterator[Read]:
    if not Path(path).is_file():
        raise CorpusError(f"{path}: no such file; give a JSONL, CSV or parquet file")
    for read in records(Path(path)):
        if read.problem:
            raise CorpusError(f"{read.where}: {read.problem}; correct or delete this row")
        yield read


def _field(read: Read, name: str) -> Any:
    if name in read.fields and read.fields[name] is None:
        raise CorpusError(f"{read.where}: {name!r} is null; correct or delete this row")
    if name not in read.fields:
        raise CorpusError(f"{read.where}: no {name!r}; its columns are {', '.join(read.fields)}")
    return read.fields[name]


def _text(read: Read, name: str) -> str:
    value = _field(read, name)
    try:
        return one_text(value)
    except NotText as error:
        raise CorpusError(f"{read.where}: {name!r} is a {type(value).__name__}, not text") from error


def _identity(read: Read, name: str) -> str:
    named = identity(value := _field(read, name))
    return str(value) if named is None else named
