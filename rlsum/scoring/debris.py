"""Notices of what metrics would score although it is no part of a text, counted column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rewards.text.cleaning import NAME, PREFIX, beginnings, clean, cleaned, shared_prefix

LEAST = 0.02  # the least share of rows for a notice, which one row among several is not
MOST = 8  # lines
PREFIX_ROWS = 10_000  # rows whose texts are searched for a shared beginning
OPTION = "--clean leaves it out"

Record = TypeVar("Record")  # an Output or a Judgment


@dataclass
class Column:
    """What cleaning finds in the texts of one column: rule -> number of rows, and its first example."""

    name: str
    rows: int = 0
    found: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)
    texts: int = 0

    def add(self, texts: Iterable[str]) -> None:
        """Count the texts of one row."""
        found: set[str] = set()
        for text in texts:
            without, changed = cleaned(text)
            self.examples = {**changed, **self.examples}
            found.update(changed)
            if self.rows < PREFIX_ROWS and without:
                self.starts.update(set(beginnings(without)))
                self.texts += 1
        self.found.update(found)
        self.rows += 1

    @property
    def prefix(self) -> str:
        """What nearly all texts begin with up to a boundary, once they are clean; "" if nothing."""
        return shared_prefix(self.starts, self.texts)

    def counts(self, least: float = 0.0) -> list[str]:
        """`Markdown in 20 of 80 rows ('**Cats**')` for whatever is in ``least`` of the rows or more."""
        rows = dict.fromkeys(self.found, self.rows) | {PREFIX: min(self.rows, PREFIX_ROWS)}
        found = self.found + Counter({PREFIX: self.starts[self.prefix]} if self.prefix else {})
        examples = {**self.examples, PREFIX: self.prefix}
        return [
            f"{rule} in {count:,} of {rows[rule]:,} rows ({examples[rule]!r})"
            for rule, count in found.most_common()
            if count >= least * rows[rule] and (count > 1 or rows[rule] == 1)
        ]


@dataclass
class Survey:
    """The columns of some files: the candidates of each system, and the references."""

    columns: dict[str, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Any]) -> Survey:
        """That of outputs or judgments."""
        survey = cls()
        for record in records:
            survey.add(record.system, record.candidate, record.references)
        return survey

    def add(self, system: str, candidate: str, references: Iterable[str]) -> None:
        """Count the texts of one row."""
        name = f"candidates of {system}" if system else "candidates"
        self.columns.setdefault(name, Column(name)).add([candidate])
        self.columns.setdefault("references", Column("references")).add(references)

    @property
    def prefixes(self) -> list[str]:
        """The prefixes of all columns."""
        return sorted({column.prefix for column in self.columns.values()} - {""})

    def notes(self, clean: bool = False, option: str = OPTION) -> list[str]:
        """A line for each column with something to tell: what metrics score, or what was cleaned away."""
        before = f"cleaned by {NAME}: " if clean else ""
        after = "" if clean else f"; metrics score it as part of the text: {option}"
        told = ((column.name, column.counts(0 if clean else LEAST)) for column in self.columns.values())
        lines = [f"{before}{name}: {', '.join(counts)}{after}" for name, counts in told if counts]
        more = [f"and in {len(lines) - MOST} more columns"] if len(lines) > MOST else []
        return lines[:MOST] + more

    def sentences(self, clean: bool = False) -> list[str]:
        """The notes for the foot of a table."""
        return [f"{'Note' if clean else 'Warning'}: {line}." for line in self.notes(clean)]


def clean_records(records: Sequence[Record], prefixes: Sequence[str]) -> list[Record]:
    """Copies of outputs or judgments with clean texts."""
    return [_clean(record, prefixes) for record in records]


def _clean(record: Any, prefixes: Sequence[str]) -> Any:
    texts = tuple(clean(text, prefixes) for text in record.references)
    candidate, source = clean(record.candidate, prefixes), record.source and clean(record.source)
    return replace(record, candidate=candidate, references=texts, source=source)
