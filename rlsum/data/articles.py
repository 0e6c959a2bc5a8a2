"""Articles in a file of their own, for outputs that lack them: found by id, or by row where the outputs have no ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.references import NotText, one_text
from rlsum.errors import option
from rlsum.readers import USUAL, CorpusError, Read, identity, is_text, records


@dataclass(frozen=True)
class Articles:
    """The rows of ``path``; ``column`` holds the articles, ``id_column`` the ids, if the file has it."""

    path: Path
    rows: tuple[Read, ...]
    column: str
    id_column: str

    @classmethod
    def read(cls, path: Path, column: str | None = None, id_column: str = "id") -> Articles:
        """From lines of text, or from rows of any format. Raises CorpusError without such a column."""
        rows = tuple(complete_rows(path, "article"))
        names = list(dict.fromkeys(name for read in rows for name in read.fields))
        usual = [name for name in ([column] if column else USUAL["articles"]) if name in names]
        if len(usual) != 1:
            raise CorpusError(
                f"{path}: {'several columns' if usual else 'no column'} of articles; name one with "
                f"{option('article_column')}: "
                f"{', '.join(names)}"
            )
        return cls(path, rows, usual[0], id_column)

    def text(self, read: Read) -> str:
        """The article of a row."""
        return text_in(read, self.column)

    def of_outputs(
        self, path: str | Path, ids: Sequence[str], have_ids: bool, further: str | None = None
    ) -> list[tuple[str, Read]]:
        """The id and the row of each output's article, in the order of ``ids``: those of the outputs of ``path``.

        ``have_ids``: whether the outputs have these ids. Without, row i of both files belongs to one article.
        ``further``: a column that is read, too. Raises CorpusError where that may not be, where an id is of no article
        or of several, and where rows of one id differ in ``further``.
        """
        if have_ids:
            by_id: dict[str, Read] = {}
            for read in self.rows:
                name = id_in(read, self.id_column)
                earlier = by_id.setdefault(name, read)
                if self.text(earlier) != self.text(read):
                    raise CorpusError(
                        f"{read.where}: another article has the id {name!r}, at {earlier.where}; rename one"
                    )
                if further and earlier.fields.get(further) != read.fields.get(further):
                    fix = f"give each id one row, with a list in {further!r}, or {further}1, {further}2"
                    raise CorpusError(f"{read.where}: another {further!r} of id {name!r} is at {earlier.where}; {fix}")
            if unknown := next((name for name in ids if name not in by_id), None):
                raise CorpusError(f"{path}: no article has the id {unknown!r}; give the articles of all outputs")
            return [(name, by_id[name]) for name in ids]
        named = any(self.id_column in read.fields for read in self.rows)
        if len(ids) != len(self.rows) or (named and not is_text(Path(path))):
            problem = f"{path} has {len(ids):,} rows without ids, but {self.path} {len(self.rows):,}"
            also = " with ids" if named else ""
            raise CorpusError(
                f"{problem}{also}; row i of both must belong to one article, or give the outputs their ids"
            )
        return [
            (id_in(read, self.id_column) if named else name, read) for name, read in zip(ids, self.rows, strict=True)
        ]


def complete_rows(path: str | Path, text: str) -> Iterator[Read]:
    """Rows of a file, lines of text in the field ``text``. Raises CorpusError for a missing file and a broken row."""
    if not Path(path).is_file():
        raise CorpusError(f"{path}: no such file; give a JSONL, CSV or parquet file, or one of texts, one a line")
    for read in records(Path(path), text):
        if read.problem:
            raise CorpusError(f"{read.where}: {read.problem}; correct or delete this row")
        yield read


def value_in(read: Read, name: str) -> Any:
    """The value of a column. Raises CorpusError where it is missing or null."""
    if name in read.fields and read.fields[name] is None:
        raise CorpusError(f"{read.where}: {name!r} is null; correct or delete this row")
    if name not in read.fields:
        raise CorpusError(f"{read.where}: no {name!r}; its columns are {', '.join(read.fields)}")
    return read.fields[name]


def text_in(read: Read, name: str) -> str:
    """The text of a column. Raises CorpusError."""
    value = value_in(read, name)
    try:
        return one_text(value)
    except NotText as error:
        raise CorpusError(f"{read.where}: {name!r} is a {type(value).__name__}, not text") from error


def id_in(read: Read, name: str) -> str:
    """The id of a row. Raises CorpusError where it is missing or null."""
    named = identity(value := value_in(read, name))
    return str(value) if named is None else named
