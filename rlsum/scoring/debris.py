"""Notices of what metrics would score although it is no part of a text, counted column by column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rewards.text.cleaning import NAME, clean
from rewards.text.debris import LEAST, Column
from rlsum.errors import option

MOST = 8  # lines

Record = TypeVar("Record")  # an Output or a Judgment


@dataclass
class Survey:
    """The columns of some files: the candidates of each system, and the references."""

    columns: dict[str, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, Iterable[str]]]) -> Survey:
        """That of rows: system, candidate, references."""
        survey = cls()
        for row in rows:
            survey.add(*row)
        return survey

    def add(self, system: str, candidate: str, references: Iterable[str]) -> None:
        """Count the texts of one row."""
        candidates = f"candidates of {system}" if system else "candidates"
        for name, texts in ((candidates, [candidate]), ("references", references)):
            if name not in self.columns:
                self.columns[name] = Column(name)
            self.columns[name].add(texts)

    @property
    def prefixes(self) -> list[str]:
        """The prefixes of all columns."""
        return sorted({column.prefix for column in self.columns.values()} - {""})

    def notes(self, clean: bool = False, consequence: str | None = None) -> list[str]:
        """A line for each column with something to tell: what metrics score, or what was cleaned away."""
        consequence = consequence or f"metrics score it as part of the text: {option('clean', True)} leaves it out"
        written = f"cleaned by {NAME}: {{}}: {{}}" if clean else f"{{}}: {{}}; {consequence}"
        counted = ((column.name, column.counts(0 if clean else LEAST)) for column in self.columns.values())
        lines = [written.format(name, ", ".join(counts)) for name, counts in counted if counts]
        more = [f"and in {len(lines) - MOST} more columns"] if len(lines) > MOST else []
        return lines[:MOST] + more

    def sentences(self, clean: bool = False, consequence: str | None = None) -> list[str]:
        """The notes for the foot of a table, or for the terminal."""
        return [f"{'Note' if clean else 'Warning'}: {line}." for line in self.notes(clean, consequence)]


def clean_records(records: Sequence[Record], prefixes: Sequence[str] = ()) -> list[Record]:
    """Copies of outputs or judgments with clean texts."""
    return [_clean(record, prefixes) for record in records]


def _clean(record: Any, prefixes: Sequence[str]) -> Any:
    candidate, *references = (clean(text, prefixes) for text in (record.candidate, *record.references))
    return replace(
        record, candidate=candidate, references=tuple(references), source=record.source and clean(record.source)
    )
