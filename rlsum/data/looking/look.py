"""A first look at a user's data: the columns of articles and summaries, and how their texts are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from rewards.references import Lists, NotText, one_text, reference_columns
from rewards.text.identification import language_in
from rewards.text.languages import language_of
from rewards.text.sentences import sentences
from rlsum.data.columns import Columns, clean
from rlsum.data.looking.roles import Roles, lengths, roles
from rlsum.data.remembered import counted
from rlsum.data.sources import reads
from rlsum.errors import option
from rlsum.readers import CorpusError, Read, encoding_problem
from rlsum.records import Output

LOOKED_AT = 1000  # rows
LONGEST_NAME = 8  # words of a column's name
TEXTS = 200  # that say how all are written
# Punctuation: ASCII's, Armenian, Arabic, of India, Burmese, Ethiopic; a tokenizer splits it off from a word.
MARKS = "[.,;:!?\u0589\u060c\u061b\u061f\u0964\u0965\u104a\u104b\u1362]"
ATTACHED, DETACHED = re.compile(rf"\w{MARKS}(\s|$)"), re.compile(rf"\s{MARKS}(\s|$)")
LONGEST_WORDS = 16  # characters of a word with its space, on average, in any language that separates words
Row = tuple[Read, dict[str, Any]]  # as it is in the file, and clean


@dataclass(frozen=True)
class Look:
    """What the first rows of a file show.

    names               its columns
    columns             the columns that a corpus reads, and what its lists are
    roles               which hold the articles and the summaries, and why
    rows, broken        the number of usable rows; what is wrong with each of the others
    articles, summaries texts of the first rows; of several references the first
    given               the language, where the user knows it
    """

    path: str
    names: tuple[str, ...]
    columns: Columns
    roles: Roles
    rows: int
    broken: Sequence[str]
    articles: Sequence[str]
    summaries: Sequence[str]
    given: str | None = None

    @cached_property
    def seen(self) -> tuple[str | None, ...]:
        """The codes of the languages of the articles and of the summaries; None where that is not clear."""
        return tuple(language_in(texts[:TEXTS]) for texts in (self.articles, self.summaries))

    @cached_property
    def language(self) -> str:
        """The code of the language. Raises CorpusError where it is not given, and not clear or not one."""
        codes = {*self.seen} - {None}
        if self.given is None and len(codes) != 1:
            names = "articles {}, summaries {}".format(*self.seen) if codes else "not clear"
            raise CorpusError(
                f"{self.path}: the language of its texts: {names}; give {option('language', 'CODE')}, such as en or hi"
            )
        return language_of(self.given or codes.pop()).code

    @cached_property
    def spaced(self) -> bool:
        """Whether spaces separate the words, unlike in Chinese or Japanese."""
        texts = self.articles[:TEXTS]
        return sum(map(len, texts)) < LONGEST_WORDS * sum(len(text.split()) for text in texts)

    @cached_property
    def tokenised(self) -> bool:
        """Whether spaces separate punctuation marks from words, too, but for those of abbreviations."""
        text = "\n".join(self.articles[:TEXTS])
        attached, detached = len(ATTACHED.findall(text)), len(DETACHED.findall(text))
        return self.spaced and 4 * attached <= detached

    @cached_property
    def lowercase(self) -> bool:
        """Whether the texts have no capitals."""
        return all(text == text.lower() for text in self.articles[:TEXTS])

    @property
    def reference(self) -> str:
        """The column of the summaries."""
        assert self.columns.reference is not None
        return self.columns.reference

    @property
    def references(self) -> Sequence[str]:
        """The columns of the summaries: several where they are numbered."""
        return self.columns.alternatives(self.names)


def look_at(
    path: str | Path,
    source: str | None = None,
    reference: str | None = None,
    lists: Lists | None = None,
    language: str | None = None,
    part: str = "train",
) -> Look:
    """Look at a file, or a ``part`` of a folder or hub name. Other options: what the user knows. Raises CorpusError."""
    path = str(path)
    first = [read.fields for read in islice(_readable(path, part), LOOKED_AT)]
    names = tuple(dict.fromkeys(name for fields in first for name in fields))
    if any(len(name.split()) > LONGEST_NAME for name in names):
        raise CorpusError(f"{path}: its first row has texts, not names of columns; write text,summary above it")
    user_columns = [name for name in (source, reference) if name is not None]
    leading = [name for name in names if name in user_columns or reference_columns(name, names)[0] == name]
    texts = {name: [_text(fields.get(name)) for fields in first] for name in leading}
    try:
        chosen = roles(lengths(texts, user_columns), names, source, reference)
    except CorpusError as error:
        chats = next((name for name in names if any(_turns(fields.get(name)) for fields in first)), None)
        advice = f"; {chats!r} holds turns of chats: write article and answer into columns" if chats else ""
        raise CorpusError(f"{path}: {error}{advice}") from error
    columns = Columns(None, chosen.source, chosen.reference, lists=lists)
    broken: list[str] = []
    good = rows(path, columns, broken, part)
    sample = [row for _, row in islice(good, LOOKED_AT)]
    count = len(sample) + sum(1 for _ in counted(good, f"looking at {path}"))
    if not count:
        raise CorpusError(f"{path}: no row can be read ({broken[0]}); give rows with an article and a summary")
    summaries = [row["references"][0] for row in sample]
    articles = [row["source"] for row in sample]
    return Look(path, names, columns, chosen, count, broken, articles, summaries, language)


def _readable(path: str, part: str) -> Iterator[Read]:
    """The rows that can be read. Raises CorpusError if there are none."""
    count, problem = 0, "empty"
    for read in reads(path, part):
        wrong = read.problem or next(filter(None, map(encoding_problem, read.fields.values())), "")
        if not wrong:
            count += 1
            yield read
        elif problem == "empty":
            problem = f"{read.where}: {wrong}"
    if not count:
        raise CorpusError(f"{path}: no row can be read ({problem}); give rows with named columns")


def rows(path: str | Path, columns: Columns, broken: list[str], part: str = "train") -> Iterator[Row]:
    """The rows that a corpus has; what is wrong with the others goes to ``broken``."""
    for read in reads(str(path), part):
        row = clean(read, columns)
        if row["problem"]:
            broken.append(f"{read.where}: {row['problem']}")
        else:
            yield read, row


def _text(cell: object) -> str:
    """The text of a cell; "" for anything else."""
    try:
        return one_text(cell)
    except NotText:
        return ""


def _turns(cell: object) -> bool:
    """Whether a cell is a list of objects, as data for chats have."""
    return isinstance(cell, list) and bool(cell) and isinstance(cell[0], dict)


def leads(path: Path, look: Look) -> tuple[int, list[Output]]:
    """The first sentences of each article of a file, as outputs, and their number: that of a usual reference."""
    language = language_of(look.language)
    count = max(1, round(median(len(sentences(summary, language)) for summary in look.summaries)))
    outputs = []
    for _, row in rows(path, look.columns, []):
        lead = "\n".join(sentences(row["source"], language)[:count])
        outputs.append(Output(row["id"], row["source"], tuple(row["references"]), lead, "lead"))
    return count, outputs
