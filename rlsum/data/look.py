"""A first look at a user's data: the columns of articles and summaries, their lengths, how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean, median

import numpy as np

from rewards.text.chunks import tokens
from rewards.text.sentences import sentences, stop_words
from rlsum.data.sources import SPLIT_NAMES, split_files
from rlsum.readers import READERS, CorpusError, Read, encoding_problem, read_file
from rlsum.records import Output

LOOKED_AT = 1000  # rows
LONGEST_NAME = 8  # words of a column's name
SOURCES = ("article", "source", "document", "text", "body", "content", "dialogue", "report", "story", "input")
REFERENCES = ("highlights", "summary", "references", "reference", "target", "abstract", "headline", "title", "output")
ATTACHED = re.compile(r"\w[.,;:!?](\s|$)")  # punctuation that a tokenizer would have split off
LONGEST_WORDS = 16  # characters of a word with its space, on average, in any language that separates words
ENGLISH = 0.2  # the least share of stop words among the tokens of English prose


@dataclass(frozen=True)
class Look:
    """What the first rows of a file show; lengths are quantiles (50%, 95%) in tokens, ``broken`` rows left out.

    ``spaced``: spaces separate the words, unlike in Chinese or Japanese.
    """

    source: str
    reference: str
    columns: tuple[str, ...]
    rows: int
    sources: tuple[int, int]
    references: tuple[int, int]
    tokenised: bool
    lowercase: bool
    english: bool
    spaced: bool
    broken: Sequence[str]


def splits_of(folder: Path) -> dict[str, Path]:
    """The files of train, valid and test in a folder. Raises CorpusError without the first two."""
    found = {}
    for names in SPLIT_NAMES:
        if files := split_files(folder, names):
            found[names[0]] = files[0]
    if not {"train", "valid"} <= found.keys():
        raise CorpusError(f"{folder}: needs a train and a valid file ({', '.join(READERS)}); or give one file to split")
    return found


def readable(path: Path, broken: list[str]) -> Iterator[Read]:
    """The rows of a file; what is wrong with the others goes to ``broken``. Raises CorpusError if there is no row."""
    count = 0
    for read in read_file(path):
        problem = read.problem or next(filter(None, map(encoding_problem, read.fields.values())), "")
        if problem:
            broken.append(f"{read.where}: {problem}")
        else:
            count += 1
            yield read
    if not count:
        raise CorpusError(f"{path}: no row can be read ({[*broken, 'empty'][0]}); give rows with named columns")


def look(path: Path, source: str | None = None, reference: str | None = None) -> Look:
    """Look at a file. ``source`` and ``reference`` name the columns where the user knows them. Raises CorpusError."""
    broken: list[str] = []
    reads = readable(path, broken)
    rows = [read.fields for read in islice(reads, LOOKED_AT)]
    count = len(rows) + sum(1 for _ in reads)
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    if any(len(name.split()) > LONGEST_NAME for name in columns):
        raise CorpusError(f"{path}: its first row has texts, not names of columns; write text,summary above it")
    texts = {name: [_text(row.get(name)) for row in rows] for name in columns}
    texts = {name: found for name, found in texts.items() if mean(bool(text) for text in found) > 0.5}
    source = _chosen("--source-column", source, SOURCES, texts, columns, path)
    rest = {name: found for name, found in texts.items() if name != source}
    reference = _chosen("--reference-column", reference, REFERENCES, rest, columns, path)
    written = [text for text in texts[source] if text][:200]
    words = [word for text in written for word in tokens(text)]
    tokenised = mean(bool(ATTACHED.search(text)) for text in written) < 0.2
    count_tokens = str.split if tokenised else tokens
    lengths = [_quantiles(len(count_tokens(text)) for text in texts[name] if text) for name in (source, reference)]
    stops = sum(word.lower() in stop_words("spacy") for word in words)
    return Look(
        source,
        reference,
        columns,
        count,
        lengths[0],
        lengths[1],
        tokenised,
        lowercase=not any(text != text.lower() for text in written),
        english=stops > ENGLISH * len(words),
        spaced=sum(map(len, written)) < LONGEST_WORDS * sum(len(text.split()) for text in written),
        broken=broken,
    )


def leads(path: Path, source: str, reference: str) -> tuple[int, list[Output]]:
    """The first sentences of each article of a file, as outputs, and their number: that of a usual reference."""
    columns = source, reference
    reads = [read for read in readable(path, []) if all(_text(read.fields.get(column)) for column in columns)]
    counts = [len(sentences(_text(read.fields[reference]))) for read in reads[:LOOKED_AT]]
    count = max(1, round(median(counts or [1])))
    return count, [_lead(read, *columns, count) for read in reads]


def _lead(read: Read, source: str, reference: str, count: int) -> Output:
    article, references = _text(read.fields[source]), read.fields[reference]
    references = tuple(map(str, references)) if isinstance(references, list) else (references,)
    identity = read.fields.get("id")
    name = read.name if identity is None else str(identity)
    return Output(name, article, references, "\n".join(sentences(article)[:count]), "lead")


def split(path: Path, source: str) -> dict[str, list[Read]]:
    """The readable rows of one file as train, valid and test, by position: of 20 rows in a row 18, 1 and 1.

    Of fewer than a thousand rows 16, 2 and 2, since differences between systems cannot be shown on a few articles. Rows
    with one text in the column ``source`` go to the part of the first: no part has another's articles.
    """
    reads = list(readable(path, []))
    shares = (0.8, 0.9) if len(reads) < 1000 else (0.9, 0.95)
    parts: dict[str, list[Read]] = {"train": [], "valid": [], "test": []}
    known: dict[str, str] = {}
    for number, read in enumerate(reads):
        place = number * 7 % 20 / 20  # spreads the held-out rows over a sorted file
        part = "train" if place < shares[0] else "valid" if place < shares[1] else "test"
        parts[known.setdefault(_text(read.fields.get(source)), part)].append(read)
    for name, rows in parts.items():
        if not rows:
            raise CorpusError(f"{path}: too few rows for a {name} part; give at least 20")
    return parts


def _text(value: object) -> str:
    """The text of a field: a text, or the first of a list of texts; "" for anything else."""
    if isinstance(value, list) and value:
        value = value[0]
    return value.strip() if isinstance(value, str) and any(sign.isalpha() for sign in value) else ""


def _chosen(
    option: str,
    given: str | None,
    usual: Sequence[str],
    texts: dict[str, list[str]],
    columns: Sequence[str],
    path: Path,
) -> str:
    """The column that is given, has a usual name, or holds the longest texts."""
    if given is not None:
        if given not in texts:
            raise CorpusError(f"{option} {given}: no column of texts in {path}; there are {', '.join(columns)}")
        return given
    named = [name for wanted in usual for name in texts if name.lower() == wanted]
    long = {name: mean(len(text.split()) for text in found if text) for name, found in texts.items()}
    long = {name: words for name, words in long.items() if words >= 2}  # no names or labels
    if not named and not long:
        raise CorpusError(f"{path}: no column of texts for {option}; there are {', '.join(columns)}")
    return named[0] if named else max(long, key=lambda name: long[name])


def _quantiles(lengths: Iterable[int]) -> tuple[int, int]:
    middle, high = np.quantile(list(lengths), (0.5, 0.95))
    return round(middle), round(high)
