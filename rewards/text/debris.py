"""What cleaning would find in a column of texts, in how many of its rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rewards.text.cleaning import PREFIX, RULES, cleaned

LEAST = 0.02  # the least share of rows for a notice, which one row among several is not
PREFIX_ROWS = 10_000  # rows whose texts are searched for a shared beginning
SHARED = 0.9  # the least share of texts that begin alike for their beginning to be a prefix
FEWEST = 5  # texts without which no beginning is shared
LONGEST = 80  # characters of a prefix
# What a prefix ends with: a colon, a dash, a bracket, the end of a line.
BOUNDARY = re.compile(
    r"(?<=\S)(?:[:\uff1a>|\]]|\s[-\u2013\u2014]+|[\)\]]\s[-\u2013\u2014]+)(?=\s|$)|(?<=\S)\n|[:\uff1a](?=\S)"
)


@dataclass
class Column:
    """What cleaning finds in the texts of one column: rule -> number of rows, and its first example."""

    name: str = ""
    rows: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)
    emptied: int = 0  # texts of which nothing remains
    hashes: set[int] = field(default_factory=set)  # of texts: one that comes again shares no prefix

    def add(self, texts: Iterable[str]) -> None:
        """Count the texts of one row."""
        names: set[str] = set()
        for text in texts:
            without, changed = cleaned(text)
            if changed:
                self.examples = {**changed, **self.examples}
                names.update(changed)
                self.emptied += not without
            if self.rows < PREFIX_ROWS and without and hash(without) not in self.hashes:
                ends = (match.end() for match in BOUNDARY.finditer(without[: LONGEST + 1]))
                self.starts.update({without[:end].rstrip() for end in ends})
                self.hashes.add(hash(without))
        self.rules.update(names)
        self.rows += 1

    @property
    def prefix(self) -> str:
        """The longest beginning, up to a boundary, of nearly all different texts once they are clean; "" if none."""
        texts = len(self.hashes)
        common = [start for start, count in self.starts.items() if texts >= FEWEST and count >= SHARED * texts]
        return max(common, key=len, default="")

    def counts(self, least: float = 0.0, prefix: bool = True) -> list[str]:
        """`Markdown in 20 of 80 rows ('**Cats**')` for whatever is in ``least`` of the rows or more.

        ``prefix``: a beginning that texts share counts, too.
        """
        lines = [
            f"{rule.name} in {count:,} of {self.rows:,} rows ({self.examples[rule.name]!r})"
            for rule in RULES
            if (count := self.rules[rule.name]) >= max(least * self.rows, min(self.rows, 2), 1)
        ]
        if prefix and self.prefix:
            texts = f"{self.starts[self.prefix]:,} of {len(self.hashes):,} different texts"
            lines.append(f"{PREFIX} in {texts} ({self.prefix!r})")
        if lines and self.emptied:
            lines.append(f"nothing else in {self.emptied:,} text{'s' * (self.emptied > 1)}")
        return lines


def column_of(texts: Iterable[str]) -> Column:
    """A column of one text a row."""
    column = Column()
    for text in texts:
        column.add([text])
    return column
