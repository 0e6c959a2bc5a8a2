"""Converts outputs of other systems, a column for each system, to records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlsum.readers import CorpusError, Read, records
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
        article = _field(read, column)
        articles[str(_field(read, id_column))] = _text(article, read, column)
    return articles


def convert(
    path: str | Path, columns: OutputColumns, system: str, articles: Mapping[str, str] | None = None
) -> Iterator[Output]:
    """Every row of ``path`` as an Output of ``system``; texts are unchanged, a line is a sentence.

    Rows without ``id`` are numbered, as by `read_outputs`, unless another column or ``articles`` are given.
    The source is the article of ``articles`` with the row's id, else the column ``columns.source``, else "". Raises
    CorpusError for the first row that lacks a field or an article: fewer rows would not be comparable.
    """
    read = None
    for number, read in enumerate(_rows(path), 1):
        numbered = articles is None and columns.id == "id" and "id" not in read.fields
        identity = str(number if numbered else _field(read, columns.id))
        references = _references(read, columns.reference) if columns.reference else ()
        candidate = _text(_field(read, columns.candidate), read, columns.candidate)
        yield Output(identity, _source(read, identity, columns, articles), references, candidate, system)
    if read is None:
        raise CorpusError(f"{path}: no rows; give a JSONL, CSV or parquet file with an output a row")


def _references(read: Read, column: str) -> tuple[str, ...]:
    value = _field(read, column)
    return tuple(_text(text, read, column) for text in (value if isinstance(value, list) else [value]))


def _source(read: Read, identity: str, columns: OutputColumns, articles: Mapping[str, str] | None) -> str:
    if articles is not None:
        if identity not in articles:
            raise CorpusError(f"{read.where}: no article has the id {identity!r}; give the articles of all outputs")
        return articles[identity]
    return _text(_field(read, columns.source), read, columns.source) if columns.source else ""


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


def _text(value: Any, read: Read, name: str) -> str:
    if not isinstance(value, str):
        raise CorpusError(f"{read.where}: {name!r} is a {type(value).__name__}, not text")
    return value
