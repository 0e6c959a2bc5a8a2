"""What cleaning would find in a column of texts, in how many of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rewards.text.cleaning import PREFIX, RULES, beginnings, cleaned, shared_prefix

LEAST = 0.02  # the least share of rows for a notice, which one row among several is not
NAMES = (*(rule.name for rule in RULES), PREFIX)
PREFIX_ROWS = 10_000  # rows whose texts are searched for a shared beginning


@dataclass
class Column:
    """What cleaning finds in the texts of one column: rule -> number of rows, and its first example."""

    name: str
    rows: int = 0
    found: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)
    emptied: int = 0  # texts of which nothing remains
    seen: set[int] = field(default_factory=set)  # hashes of texts: one that comes again shares no prefix

    def add(self, texts: Iterable[str]) -> None:
        """Count the texts of one row."""
        found: set[str] = set()
        for text in texts:
            without, changed = cleaned(text)
            self.examples = {**changed, **self.examples}
            found.update(changed)
            self.emptied += bool(changed) and not without
            if self.rows < PREFIX_ROWS and without and hash(without) not in self.seen:
                self.starts.update(set(beginnings(without)))
                self.seen.add(hash(without))
        self.found.update(found)
        self.rows += 1

    @property
    def prefix(self) -> str:
        """What nearly all texts begin with up to a boundary, once they are clean; "" if nothing."""
        return shared_prefix(self.starts, len(self.seen))

    def counts(self, least: float = 0.0, prefix: bool = True) -> list[str]:
        """`Markdown in 20 of 80 rows ('**Cats**')` for whatever is in ``least`` of the rows or more.

        ``prefix``: a beginning that texts share counts, too.
        """
        rows = dict.fromkeys(self.found, self.rows) | {PREFIX: len(self.seen)}
        found = self.found + Counter({PREFIX: self.starts[self.prefix]} if prefix and self.prefix else {})
        examples = {**self.examples, PREFIX: self.prefix}
        lines = [
            f"{rule} in {count:,} of {rows[rule]:,} rows ({examples[rule]!r})"
            for rule in NAMES
            if (count := found[rule]) and count >= least * rows[rule] and (count > 1 or rows[rule] == 1)
        ]
        return (
            [*lines, f"nothing else in {self.emptied:,} text{'s' * (self.emptied > 1)}"]
            if lines and self.emptied
            else lines
        )


def column_of(texts: Iterable[str], name: str = "") -> Column:
    """A column of one text a row."""
    column = Column(name)
    for text in texts:
        column.add([text])
    return column
