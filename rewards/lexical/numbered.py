"""Texts as numbers of their words, so that many pairs are compared at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Numbers = NDArray[np.int64]
Ids = NDArray[np.int32 | np.int64]
Word = Any  # str or bytes
BLOCK = 2**11  # items compared at once
END = b"\xff" * 4  # of a line


class Vocabulary(dict[str, bytes]):
    """Texts as numbers of their words, which are equal where the words are; fills itself.

    A text is int32 as bytes, which are joined at once, with END (-1) behind each line. ``split`` gives the words of a
    text and ``mark`` between its lines, ``form`` the form in which a word is compared, such as its stem.
    """

    def __init__(self, split: Callable[[str], Iterable[Word]], form: Callable[[Word], str], mark: Word) -> None:
        self.split, self.words = split, _WordNumbers(form)
        self.words[mark] = END
        self.numbered = lru_cache(maxsize=16)(self._numbered)  # by several rewards, one after another

    def __missing__(self, text: str) -> bytes:
        self[text] = ids = b"".join(map(self.words.__getitem__, self.split(text))) + END
        return ids

    def _numbered(self, texts: tuple[str, ...]) -> Numbered:
        return Numbered.of(list(map(self.__getitem__, texts)))

    @property
    def size(self) -> int:
        """Texts or words, whichever are more."""
        return max(len(self), len(self.words))


class _WordNumbers(dict[Word, bytes]):
    """Words and their numbers; fills itself, also from several threads."""

    def __init__(self, form: Callable[[Word], str]) -> None:
        self.form, self.forms, self.unused = form, dict[str, bytes](), count()

    def __missing__(self, word: Word) -> bytes:
        unused = next(self.unused).to_bytes(4, sys.byteorder)
        self[word] = number = self.forms.setdefault(self.form(word), unused)
        return number


class Numbered(NamedTuple):
    """n texts, one after another.

    ids     (N,) int32, of runs of words int64; equal where words are equal, below ``size``
    owners  (N,) int64, the text of each word
    lengths (n,) int64
    lines   (N,) int64, the line of each word, counted through all texts
    """

    ids: Ids
    owners: Numbers
    lengths: Numbers
    lines: Numbers
    size: int

    @property
    def starts(self) -> Numbers:
        """Where each text begins, (n,)."""
        return self.lengths.cumsum() - self.lengths

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Numbered:
        """Texts of one vocabulary."""
        marked = np.frombuffer(b"".join(texts), np.int32)
        ids, ends = marked[marked >= 0], np.flatnonzero(marked < 0)  # of lines
        lines = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1) - 1)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts)) // 4
        lengths = sizes - np.diff(np.searchsorted(ends, sizes.cumsum()), prepend=0)
        return cls(ids, np.repeat(np.arange(len(texts)), lengths), lengths, lines, int(ids.max(initial=-1)) + 1)

    def take(self, texts: Numbers) -> Numbered:
        """Some of the texts, by their numbers."""
        if np.array_equal(texts, np.arange(len(self.lengths))):
            return self
        lengths = self.lengths[texts]
        owners = np.repeat(np.arange(len(lengths)), lengths)
        shift = self.starts[texts] - (lengths.cumsum() - lengths)
        words = np.arange(len(owners)) + shift[owners]
        return Numbered(self.ids[words], owners, lengths, self.lines[words], self.size)

    def halves(self) -> tuple[Numbered, Numbered]:
        """The first n / 2 texts, and the others."""
        n = len(self.lengths) // 2
        word = int(self.lengths[:n].sum())
        first = Numbered(self.ids[:word], self.owners[:word], self.lengths[:n], self.lines[:word], self.size)
        return first, Numbered(self.ids[word:], self.owners[word:] - n, self.lengths[n:], self.lines[word:], self.size)

    def sentences(self) -> tuple[Numbered, Numbers]:
        """The lines with a word as texts of their own, and the text of each, (m,)."""
        differs = (self.lines[1:] != self.lines[:-1]) | (self.owners[1:] != self.owners[:-1])
        starts = np.flatnonzero(np.concatenate([np.full(min(len(self.ids), 1), True), differs]))
        lengths = np.diff(starts, append=len(self.ids))
        return self._replace(owners=np.repeat(np.arange(len(starts)), lengths), lengths=lengths), self.owners[starts]

    def words(self, text: int) -> list[int]:
        """The words of one text."""
        end = int(self.lengths[: text + 1].sum())
        return self.ids[end - int(self.lengths[text]) : end].tolist()

    def ngrams(self, n: int) -> Numbered:
        """The runs of ``n`` words of each text."""
        if n == 1:
            return self
        starts = np.flatnonzero(self.owners[: max(0, len(self.ids) - n + 1)] == self.owners[n - 1 :])
        ids, size = self.ids[starts].astype(np.int64), self.size
        for further in range(1, n):
            if further > 1:  # else the numbers could exceed those of int64
                distinct, ids = np.unique(ids, return_inverse=True)
                size = len(distinct)
            ids, size = ids * self.size + self.ids[starts + further], size * self.size
        return Numbered(ids, self.owners[starts], (self.lengths - n + 1).clip(0), self.lines[starts], size)


def matches(first: Numbered, second: Numbered) -> tuple[Numbers, Numbers, Numbers]:
    """The items that texts of both sides have in common: the text, the item, and how often, at most as in either."""
    size = max(first.size, 1)
    (keys, times), (other_keys, other_times) = (
        np.unique(side.owners * size + side.ids, return_counts=True) for side in (first, second)
    )
    place = np.asarray(np.searchsorted(other_keys, keys))
    equal = np.flatnonzero(np.append(other_keys, -1)[place] == keys)
    keys = keys[equal]
    return keys // size, keys % size, np.minimum(times[equal], other_times[place[equal]])


def common(first: Numbered, second: Numbered, n: int) -> Counts:
    """How many items the n texts of both sides have in common, each at most as often as in either, (n,)."""
    texts, _, times = matches(first, second)
    return np.bincount(texts, times, n).astype(np.float64)


def first_of(groups: Numbers, *by: Numbers | Counts) -> Numbers:
    """The place of the first of each group by ``by``, of which the last counts most; of equal ones the first."""
    order: Numbers = np.lexsort((*by, groups))
    return order[np.diff(groups[order], prepend=-1) > 0]
