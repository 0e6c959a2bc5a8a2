"""Static word vectors from word2vec / GloVe / fastText text files (gzip too) or from a spaCy pipeline."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import itertools
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rewards.errors import DAMAGED, RewardError, Unavailable

SPACY = "spacy:"
BOM = b"\xef\xbb\xbf"  # a byte order mark: some editors write it at the start of a file
LARGEST = float(np.finfo(np.float32).max)
CHUNK = 2000  # lines parsed at a time: bounds memory, and numpy parses a chunk in one call


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """Words and their vectors: ``table`` is ``(n, d)`` float32, ``index`` maps a word to its row.

    ``digest`` is a hash of the whole content (12 hex digits), the same for a file and its gzip and independent of
    the ``words`` kept. Of a repeated word the first line counts.
    """

    table: NDArray[np.float32]
    index: dict[str, int]
    digest: str

    @property
    def width(self) -> int:
        """The number of dimensions ``d``."""
        return self.table.shape[1]


def read_vectors(path: str | Path, words: Collection[str] | None = None) -> StaticVectors:
    """Read a text file of one word and its numbers a line, after an optional header ``count width``.

    ``words`` restricts the words kept; every line is read and hashed. ``spacy:NAME_OR_DIR`` reads the vectors of a
    spaCy pipeline. Raises RewardError, with the line number, for a line of another width, a number of a kept word that
    is not finite, text that is not UTF-8, a truncated file, and for a file without vectors.
    """
    if str(path).startswith(SPACY):
        return _from_pipeline(str(path).removeprefix(SPACY), words)
    with _opened(path) as file:
        return _Reader(path, None if words is None else frozenset(words)).read(file)


def read_width(path: str | Path) -> int:
    """The number of dimensions, from the first line of a text file of vectors. Raises RewardError."""
    reader = _Reader(path, None)
    with _opened(path) as file:
        reader.after_header(iter(file))
    if reader.width < 1:
        raise RewardError(f"vectors {path}, line 1: must be a word and its numbers")
    return reader.width


def check_source(source: str | Path) -> None:
    """Raise Unavailable unless ``source`` is a file, or an installed or saved spaCy pipeline. Reads neither."""
    name = str(source)
    if not name.startswith(SPACY):
        if not Path(name).is_file():
            raise Unavailable(f"vectors={name!r}: no such file; give a word2vec, GloVe or fastText text file (.gz too)")
        return
    name = name.removeprefix(SPACY)
    if not Path(name).is_dir() and (not name.isidentifier() or importlib.util.find_spec(name) is None):
        raise Unavailable(f"vectors='spacy:{name}': no such pipeline; run 'python -m spacy download {name}' first")


@dataclass(frozen=True)
class VectorSource:
    """A file or pipeline of vectors with its size and time when the reward was made: a cheap, picklable key."""

    name: str
    stamp: tuple[int, int]

    @classmethod
    def of(cls, name: str | Path) -> VectorSource:
        """Check that the source exists and record its size and time."""
        check_source(name)
        return cls(str(name), _stamp(name))


@lru_cache(maxsize=4)
def load_once(source: VectorSource) -> StaticVectors:
    """The vectors of ``source``, read once per process. Raises RewardError if it changed since the reward was made."""
    if _stamp(source.name) != source.stamp:
        raise RewardError(f"vectors {source.name}: the file changed since the reward was made; make the reward again")
    return read_vectors(source.name)


def _stamp(name: str | Path) -> tuple[int, int]:
    """Latest time and total size of the files; for a pipeline those of its vocabulary, which hold the vectors."""
    name = str(name)
    files = _pipeline_folder(name).rglob("vocab/*") if name.startswith(SPACY) else [Path(name)]
    states = [file.stat() for file in files]
    return max((state.st_mtime_ns for state in states), default=0), sum(state.st_size for state in states)


def _pipeline_folder(name: str) -> Path:
    name = name.removeprefix(SPACY)
    if Path(name).is_dir():
        return Path(name)
    module = importlib.util.find_spec(name)
    assert module is not None  # check_source was called
    assert module.origin is not None
    return Path(module.origin).parent


@contextmanager
def _opened(path: str | Path) -> Iterator[gzip.GzipFile | BinaryIO]:
    """A file of vectors, gzip or not. Raises RewardError for none, and where it cannot be read in the block."""
    check_source(path)
    try:
        with Path(path).open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else Path(path).open("rb", buffering=2**20) as opened:
            yield opened
    except DAMAGED as error:
        raise RewardError(f"vectors {path}: cannot be read ({error}); it may be truncated") from error


def _from_pipeline(name: str, words: Collection[str] | None) -> StaticVectors:
    from rewards.text.sentences import pipeline_vectors

    names, table = pipeline_vectors(name)
    if not np.isfinite(table).all():
        raise RewardError(f"vectors=spacy:{name}: some numbers are not finite; use another pipeline")
    digest = hashlib.sha256("\n".join(names).encode() + table.tobytes()).hexdigest()[:12]
    rows = [row for row, word in enumerate(names) if words is None or word in words]
    return StaticVectors(table[rows], {names[row]: index for index, row in enumerate(rows)}, digest)


class _Reader:
    """One pass over a file, with the contents of the lines read so far."""

    def __init__(self, path: str | Path, words: frozenset[str] | None) -> None:
        self.path, self.words = path, words
        self.hash = hashlib.sha256()
        self.index: dict[str, int] = {}
        self.blocks: list[NDArray[np.float32]] = []
        self.width = self.count = 0
        self.stated: int | None = None
        self.number = 0  # of the last line read

    def read(self, lines: Iterable[bytes]) -> StaticVectors:
        body = self.after_header(iter(lines))
        while chunk := list(itertools.islice(body, CHUNK)):
            self._take(chunk)
        if not self.count:
            raise RewardError(f"vectors {self.path}: holds no vectors; each line must be a word and its numbers")
        if self.stated not in (None, self.count):
            raise RewardError(
                f"vectors {self.path}: its header states {self.stated} words, but the file has {self.count}; "
                "download it again"
            )
        table = np.concatenate(self.blocks) if self.blocks else np.empty((0, self.width), np.float32)
        return StaticVectors(table, self.index, self.hash.hexdigest()[:12])

    def after_header(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Read the width in a header of two whole numbers, else in the first line; returns the lines of vectors."""
        first = next(lines, b"").removeprefix(BOM)
        fields = first.split()
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            self.hash.update(first)
            self.number = 1
            self.stated, self.width = int(fields[0]), int(fields[1])
            if self.width == 0:
                raise self._error(1, "vectors of width 0")
            return lines
        if fields and len(fields) == 1:
            raise self._error(1, f"{_shown(first)} has no numbers after the word")
        self.width = len(fields) - 1
        return itertools.chain([first] if first else [], lines)

    def _take(self, chunk: list[bytes]) -> None:
        """Parse a chunk of lines: words before the first space, all numbers by one call to numpy."""
        entries = []
        for number, line in enumerate(chunk, self.number + 1):
            self.hash.update(line)
            word, numbers = self._split(number, line)
            if word not in self.index and (self.words is None or word in self.words):
                self.index[word] = len(self.index)
                entries.append((number, numbers))
        self.number += len(chunk)
        self.count += len(chunk)
        if entries:
            self.blocks.append(self._numbers(entries))

    def _split(self, number: int, line: bytes) -> tuple[str, bytes]:
        """Word and numbers. A few GloVe words have spaces (``. . .``): the last ``width`` fields are numbers."""
        line = line.rstrip()
        word, _, numbers = line.partition(b" ")
        if line.count(b" ") != self.width:
            fields = line.split()
            size = len(fields) - self.width  # of the word
            if size < 1 or any(map(_is_number, fields[1:size])):
                count = max(len(fields) - 1, 0)
                raise self._error(number, f"{_shown(line)} has {count} numbers instead of {self.width}")
            word, numbers = b" ".join(fields[:size]), b" ".join(fields[size:])
        try:
            return word.decode(), numbers
        except UnicodeDecodeError as error:
            raise self._error(number, f"the word {word!r} is not UTF-8; convert the file") from error

    def _numbers(self, rows: list[tuple[int, bytes]]) -> NDArray[np.float32]:
        """``(rows, width)``. Raises RewardError for the first line that cannot be parsed."""
        try:
            with warnings.catch_warnings(action="error"):  # numpy warns and stops at text that is not a number
                flat = np.fromstring(b" ".join(numbers for _, numbers in rows), dtype=np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            flat = np.empty(0, np.float32)
        if flat.size == len(rows) * self.width and np.isfinite(flat).all():
            return flat.reshape(len(rows), self.width)
        for number, numbers in rows:
            bad = [field for field in numbers.split() if not _is_number(field) or not abs(float(field)) <= LARGEST]
            if bad:
                raise self._error(number, f"{_shown(bad[0])} is not a finite number")
        raise self._error(rows[0][0], "its numbers or those of the next lines cannot be read")

    def _error(self, number: int, what: str) -> RewardError:
        return RewardError(f"vectors {self.path}, line {number}: {what}")


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(line: bytes) -> str:
    text = line.rstrip().decode(errors="replace")
    return repr(text if len(text) <= 40 else text[:40] + "...")
