"""Converts outputs of other systems, a column for each system, to records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rewards.references import Lists, NotText, reference_columns, references
from rlsum.data.articles import Articles, complete_rows, id_in, text_in, value_in
from rlsum.errors import option
from rlsum.readers import CorpusError, Read, Understood
from rlsum.records import Output


@dataclass(frozen=True)
class OutputColumns:
    """Columns of the file: the system's text; if present, the reference (a text or a list of texts) and the article."""

    candidate: str
    reference: str | None
    source: str | None = None
    id: str = "id"


def convert(
    path: str | Path,
    columns: OutputColumns,
    system: str,
    articles: Articles | None = None,
    lists: Lists | None = None,
) -> Iterator[Output]:
    """Every row of ``path`` as an Output of ``system``; texts are unchanged, a line is a sentence.

    The source is the article of ``articles`` with the row's id, else the column ``columns.source``, else "". References
    that the row lacks are those of the article. Rows without ids are numbered, and belong to the articles in their
    order. Raises CorpusError for the first row that lacks a field or an article: fewer rows would not be comparable.
    """
    reads, understood = list(complete_rows(path, columns.candidate)), Understood(str(path), lists)
    if not reads:
        raise CorpusError(f"{path}: no rows; give a JSONL, CSV or parquet file with an output a row")
    alone = articles is None or articles.path.resolve() == Path(path).resolve()
    if columns.reference == columns.candidate and alone:
        what = f"{option('reference', columns.candidate)}: the column of the candidates, too"
        raise CorpusError(f"{what}; name that of the references, or give the file that has them: {option('articles')}")
    have_ids = columns.id != "id" or any("id" in read.fields for read in reads)
    ids = [id_in(read, columns.id) if have_ids else str(number) for number, read in enumerate(reads, 1)]
    own = [{name: cell for name, cell in read.fields.items() if name != columns.candidate} for read in reads]
    further = None if any(columns.reference in fields for fields in own) else columns.reference
    joined = articles.of_outputs(path, ids, have_ids, further) if articles else zip(ids, reads, strict=True)
    article_columns = (articles.column,) if articles else (columns.source,) if columns.source else ()
    fixed = (columns.id, *article_columns, *([columns.candidate] if alone else []))
    for read, other, (named, article) in zip(reads, own, joined, strict=True):
        candidate, source = text_in(read, columns.candidate), ""
        if articles:
            source, other = articles.text(article), {**article.fields, **other}
        elif columns.source:
            source = text_in(read, columns.source)
        fields, texts = _references(replace(read, fields=other), columns, fixed, lists)
        understood.note("candidates", read.fields.get(columns.candidate))
        understood.add(texts, (columns.candidate,), fields, article_columns)
        yield Output(named, source, texts, candidate, system)
    understood.say()


def _references(
    read: Read, columns: OutputColumns, fixed: Sequence[str], lists: Lists | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a row that hold references, none of ``fixed``, and the texts."""
    if columns.reference is None:
        return (), ()
    named = reference_columns(columns.reference, tuple(name for name in read.fields if name not in fixed))
    if not any(name in read.fields for name in named):
        value_in(read, columns.reference)  # raises
    try:
        texts = references(read.fields, columns.reference, lists, fixed)
    except NotText as error:
        raise CorpusError(f"{read.where}: {error}") from error
    if not texts:
        raise CorpusError(f"{read.where}: {columns.reference!r} is empty; correct or delete this row")
    return tuple(name for name in named if name in read.fields), tuple(texts)
