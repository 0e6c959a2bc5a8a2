"""Texts as numbers of their words, so that many pairs are compared at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Numbered(NamedTuple):
    """n texts, one after another.

    ids     (N,) int64, equal where words are equal, below ``size``
    owners  (N,) int64, the text of each word
    lengths (n,) int64
    """

    ids: Numbers
    owners: Numbers
    lengths: Numbers
    size: int

    @classmethod
    def of(cls, texts: Sequence[Sequence[Hashable]]) -> Numbered:
        """Texts given as words."""
        known: defaultdict[Hashable, int] = defaultdict(count().__next__)
        lengths = sizes(texts)
        ids = np.fromiter(map(known.__getitem__, chain.from_iterable(texts)), np.int64, lengths.sum())
        return cls(ids, np.repeat(np.arange(len(texts)), lengths), lengths, len(known))

    def split(self, cut: int) -> tuple[Numbered, Numbered]:
        """The texts before ``cut``, and the others."""
        at = int(self.lengths[:cut].sum())
        return (
            Numbered(self.ids[:at], self.owners[:at], self.lengths[:cut], self.size),
            Numbered(self.ids[at:], self.owners[at:] - cut, self.lengths[cut:], self.size),
        )

    def ngrams(self, n: int) -> Numbered:
        """The runs of ``n`` words of each text."""
        starts = np.flatnonzero(self.owners[: len(self.ids) - n + 1] == self.owners[n - 1 :])
        ids, size = self.ids[starts], self.size
        for further in range(1, n):
            if further > 1:  # else the numbers could exceed those of int64
                known, ids = np.unique(ids, return_inverse=True)
                size = len(known)
            ids, size = ids * self.size + self.ids[starts + further], size * self.size
        return Numbered(ids, self.owners[starts], (self.lengths - n + 1).clip(0), size)


def sizes(texts: Sequence[Sequence[object]]) -> Numbers:
    """The number of items of each, (n,)."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def common(first: Numbered, second: Numbered, n: int) -> Counts:
    """How many items the n texts of both sides have in common, each at most as often as in either, (n,)."""
    size = max(first.size, 1)
    (keys, times), (others, other_times) = (
        np.unique(side.owners * size + side.ids, return_counts=True) for side in (first, second)
    )
    if not len(others):
        return np.zeros(n)
    place = np.searchsorted(others, keys).clip(max=len(others) - 1)
    equal = others[place] == keys
    return np.bincount(keys[equal] // size, np.minimum(times, other_times[place])[equal], n).astype(np.float64)
