"""What a command understood of a file, in one line."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from rewards.references import Lists, members

ROLES = ("candidates", "references", "articles")
MISSING = frozenset({"nan", "NaN", "<NA>", "None", "null", "NULL"})  # empty cells, as programs write them as texts
log = logging.getLogger("rlsum.readers")  # the command line shows it


@dataclass
class Understood:
    """What a command understood of a file's rows, for one line: columns, references a row, rows left out."""

    path: str
    lists: Lists | None = None
    rows: int = 0
    columns: dict[str, dict[str, None]] = field(default_factory=dict)  # role -> names
    counts: set[int] = field(default_factory=set)  # references a row
    left_out: str = ""
    joined: set[str] = field(default_factory=set)  # roles whose cells hold lists of sentences
    missing: Counter[str] = field(default_factory=Counter)  # words for a missing text, such as nan
    last: tuple[tuple[str, ...], ...] = ()  # names of the row before
    lines: str = "texts"  # what the lines of a file without columns are

    def note(self, role: str, cell: object) -> None:
        """Remember what the cell of an article or a candidate holds: a list of sentences, no text."""
        if isinstance(cell, str) and cell in MISSING:
            self.missing[cell] += 1
        elif role not in self.joined and members(cell) is not None:
            self.joined.add(role)

    def add(self, references: Collection[str], *names: tuple[str, ...]) -> None:
        """A row with its references, and its columns of candidates, references and articles."""
        self.rows += 1
        self.counts.add(len(references))
        if not MISSING.isdisjoint(references):
            self.missing.update(MISSING.intersection(references))
        if names != self.last:
            self.last = names
            for role, columns in zip(ROLES, names, strict=False):
                self.columns.setdefault(role, {}).update(dict.fromkeys(columns))

    def __str__(self) -> str:
        roles = [(role, ", ".join(map(repr, names))) for role, names in self.columns.items() if names]
        described = [f"{role} {names}{self._noted(role)}" for role, names in roles]
        rows = f"{self.path}: {self.rows:,} " + (
            f"row{'s' * (self.rows != 1)}" if described else f"{self.lines}, one a line"
        )
        written = [f"{count:,} x the text {text!r}, which is no text" for text, count in self.missing.items()]
        return "; ".join([rows, *described, *filter(None, [self.left_out]), *written])

    def _noted(self, role: str) -> str:
        if role != "references":
            return " (lists of sentences, as lines)" if role in self.joined else ""
        fewest, most = min(self.counts, default=0), max(self.counts, default=0)
        several = most > len(self.columns["references"])
        lists = f", lists are {self.lists or 'alternatives'}" if several or self.lists else ""
        return f" ({fewest if fewest == most else f'{fewest} to {most}'} a row{lists})"

    def say(self) -> None:
        """Log it, once a process: a comparison reads the same articles for every kind of training."""
        if self.rows:
            say(str(self), logging.WARNING if self.left_out or self.missing else logging.INFO)


@contextmanager
def quietly() -> Iterator[None]:
    """Within it what was understood is not said unless rows were left out: of files that a command wrote itself."""
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


def say(line: str, level: int = logging.INFO) -> None:
    """Log a line, once a process."""
    if log.isEnabledFor(level):
        _log(line, level)


@cache
def _log(line: str, level: int) -> None:
    log.log(level, "%s", line)
