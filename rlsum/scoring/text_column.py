"""Texts of a file, to be scored against those of another: its lines, or one of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic.dataclasses import dataclass as options

from rewards.references import Lists, NotText, members, one_text, reference_columns, references
from rlsum.errors import RecordError, option
from rlsum.readers import USUAL, Read, Understood, identity, is_text, records

LONGEST_NAME = 8  # words of a column's name that nobody asked for


class Located(NamedTuple):
    """The texts of one row, at ``where``; ``id`` if the row has one."""

    where: str
    id: str | None
    texts: list[str]


@options(frozen=True)
class TextColumns:
    """Columns of candidates and of references, where texts stand in a table."""

    candidate_column: str | None = None
    """with `--references`: column of the candidates; default: by name, or the only one"""
    reference_column: str | None = None
    """with `--references`: column of the references; likewise"""
    reference_lists: Lists | None = None
    """what a list of texts in a column of references is, where its name does not say so"""


BY_NAME = TextColumns()


@dataclass(frozen=True)
class TextColumn:
    """The texts of ``path``: its lines, or those in its column ``name``.

    ``name``: by default the column with a usual name, or the only one with texts. ``lists``: what a list of references
    is, where the column's name does not say so. ``others``: columns that hold something else.
    """

    path: Path
    role: Literal["candidates", "references"]
    name: str | None = None
    lists: Lists | None = None
    others: tuple[str, ...] = ()

    def within(self, path: Path) -> tuple[str, ...]:
        """The name of the column if ``path`` is the file that it is in."""
        same = path.resolve() == self.path.resolve() and not is_text(path)
        return tuple(self._chosen(read.fields) for read in islice(records(path), 1) if not read.problem) if same else ()

    def __iter__(self) -> Iterator[Located]:
        """Row by row; then says what was read. Raises RecordError for a row without texts, or no such column."""
        plain = is_text(self.path)
        name, understood = self.name, Understood(str(self.path), self.lists, lines=self.role)
        for read in records(self.path, "text"):
            if read.problem:
                raise RecordError(f"{read.where}: {read.problem}; correct or delete this row")
            if plain:
                understood.rows += 1
                yield Located(read.where, None, [read.fields["text"]])
                continue
            name = self._chosen(read.fields) if not understood.rows else name
            texts = self._texts(read, name or "")
            if self.role == "references":
                understood.add(texts, (), reference_columns(name or "", self._free(read.fields)))
            else:
                understood.add((), (name or "",))
                understood.note(self.role, read.fields.get(name or ""))
            yield Located(read.where, identity(read.fields.get("id")), texts)
        understood.say()

    def _texts(self, read: Read, name: str) -> list[str]:
        try:
            if self.role == "references":
                return references(read.fields, name, self.lists, self.others)
            return [one_text(read.fields.get(name))]
        except NotText as error:
            problem = error if self.role == "references" else f"{name}: {error}"
            raise RecordError(f"{read.where}: {problem}") from error

    def _chosen(self, fields: Mapping[str, Any]) -> str:
        """The name of the column, from the first row."""
        columns, name = self._free(fields), f"{self.role.removesuffix('s')}_column"
        if self.name in self.others:
            raise RecordError(f"{option(name, self.name)}: the column of the candidates, too; name another")
        if self.name is not None:
            if not {*columns} & {*reference_columns(self.name, columns)}:
                raise RecordError(
                    f"{option(name, self.name)}: not in {self.path}; its columns are {', '.join(columns)}"
                )
            return self.name
        usual = [name for name in columns if name.lower() in USUAL[self.role]]
        if self.role == "references" and not usual:
            usual = [name for name in USUAL["references"] if {*columns} & {*reference_columns(name, columns)}]
        texts = usual or [name for name in columns if _is_text(fields[name])]
        if len(texts) != 1:
            raise RecordError(
                f"{self.path}: which column has the {self.role}? Name it with {option(name)}; there are "
                f"{', '.join(columns)}"
            )
        if len(texts[0].split()) > LONGEST_NAME or len(texts[0]) > 10 * LONGEST_NAME:
            raise RecordError(f"{self.path}: its first row has texts, not names of columns; write a name above them")
        return texts[0]

    def _free(self, fields: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in fields if name not in self.others)


def _is_text(cell: Any) -> bool:
    return members(cell) is not None or (isinstance(cell, str) and not cell.strip().replace(".", "").isdecimal())
