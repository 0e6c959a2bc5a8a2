"""Which columns hold the fields of a judgment, in the layout of others. The fields are options of several commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from rewards.references import Lists, reference_columns
from rlsum.errors import RecordError, option

COLUMN: dict[str, Any] = {"names": "a column"}  # marks a field; one without it is an option of another kind


def _column(option: str | None = None) -> Any:
    """A field that names a column. ``option``: of the command line, if not the field's name."""
    return Field(default=None, serialization_alias=option, json_schema_extra=COLUMN)


@dataclass(frozen=True, config={"extra": "forbid"})
class Layout:
    """Where rows hold the fields of a judgment but its scores: a column, or a dotted path into nested values.

    ``*`` stands for any characters of a name. None is the field's own name, where a row has it.
    """

    PANEL: ClassVar = "Columns of other layouts"

    id: str | None = _column("id_column")
    """the input: a column, or, as in all of these, a dotted path into nested values; default: `id`; else texts with the
    same source, or references, are of one input"""
    system: str | None = _column("system_column")
    """the system; default: `system`; else all texts are of one system, named like the file"""
    candidate: str | None = _column()
    """the judged text; a list of sentences is joined, a sentence a line; default: `candidate`"""
    reference: str | None = _column()
    """the references, '' if there are none; default: `references` or `reference`"""
    source: str | None = _column()
    """the article; default: `source`"""
    group: str | None = _column()
    """the group, such as a topic; default: `group`"""
    judge: str | None = _column("judge_column")
    """who gave the scores of a row, or each of a list; default: a name such as `WorkerId`, `annotator`, `judge`"""
    criterion: str | None = _column("criterion_column")
    """what is rated, where a row is of one criterion; default: `criterion`, `dimension` or `aspect`"""
    lists: Lists | None = Field(default=None, serialization_alias="reference_lists")
    """what a list of texts in a column of references is, where its name does not say so"""

    @classmethod
    def option(cls, name: str) -> str:
        """The option of a field, such as ``--id-column``."""
        declared = cls.__pydantic_fields__[name]  # type: ignore[attr-defined]
        return f"--{(declared.serialization_alias or name).replace('_', '-')}"

    def columns(self, scores: Mapping[str, tuple[str, ...]]) -> JudgmentColumns:
        """With the columns of scores."""
        return JudgmentColumns(**vars(self), scores=scores)

    def with_score(self, score: str | None) -> tuple[JudgmentColumns, str | None]:
        """The columns, and the name of the one score, given with its column, as a path or as columns of judges."""
        marks = "=*,." if self.columns({}) else "=*,"
        scores = score_columns([score]) if score is not None and not {*marks}.isdisjoint(score) else {}
        return self.columns(scores), next(iter(scores), score)


@dataclass(frozen=True, config={"extra": "forbid"})
class JudgmentColumns(Layout):
    """Where rows hold the fields of a judgment, see `Layout`, and its scores."""

    scores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """name -> its column, or the columns of several judges; none: all columns of numbers"""

    def __bool__(self) -> bool:
        """Whether any column is named, if only as none (''), or how one is read."""
        return bool(self.scores) or self.lists is not None or any(path is not None for _, path in self._paths())

    def named(self) -> Iterator[tuple[str, str]]:
        """(argument, path) of every column that is named."""
        yield from ((option(name, typed=self.option(name)), path) for name, path in self._paths() if path)
        yield from ((option("scores", typed="--score"), path) for paths in self.scores.values() for path in paths)

    def alternatives(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of references among ``names``: none that is named as something else."""
        others = {path for _, path in self._paths() if path != self.reference}
        free = tuple(name for name in names if name not in others)
        return reference_columns(self.reference, free) if self.reference else ()

    def _paths(self) -> Iterator[tuple[str, str | None]]:
        """Field and path of every column but those of scores."""
        fields = self.__pydantic_fields__  # type: ignore[attr-defined]
        return ((name, getattr(self, name)) for name in fields if fields[name].json_schema_extra == COLUMN)


def score_columns(written: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name -> columns from ``NAME=COLUMN,...``, or from a column whose last part is the name. Raises RecordError."""
    columns: dict[str, tuple[str, ...]] = {}
    for text in written:
        name, equals, column = (side.strip() for side in text.partition("="))
        if not equals:
            name, column = text.rpartition(".")[2].strip("*_ -"), text
        if not name or not column or name in columns:
            raise RecordError(f"--score {text!r}: write NAME=COLUMN, with another name for each score")
        columns[name] = tuple(path.strip() for path in column.split(","))
    return columns
