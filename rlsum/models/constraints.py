"""Which tokens may not follow: the one place for each constraint of decoding. Drawing, scoring and searching ask it.

Notation: N places, each behind some tokens of a text; R texts of t or T tokens; V possible tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from rlsum.models.decoding import Limits


class Forbidden(NamedTuple):
    """What may not follow at N places.

    ends, never  what ends a text; what no text has
    early        where no end may follow yet: (N,) bool, or one for all places
    row, token   (M,) tokens that would repeat an n-gram, and at which places, in ascending order
    """

    ends: Sequence[int]
    never: Sequence[int]
    early: Tensor | bool
    row: Tensor
    token: Tensor

    @classmethod
    def after(cls, ids: Tensor, limits: Limits, ends: Sequence[int], never: Sequence[int] = ()) -> Forbidden:
        """Behind texts (R, t), which are as many places."""
        return cls(ends, never, ids.shape[1] < limits.min_length, *repeats(ids, limits.block_ngrams))

    @classmethod
    def within(
        cls, target: Tensor, place: Tensor, limits: Limits, ends: Sequence[int], never: Sequence[int] = ()
    ) -> Forbidden:
        """At places (N,) of flattened texts (R, T), each behind the tokens of its own text before it."""
        width, number = target.shape[1], place.new_full((target.numel(),), -1)
        number[place] = torch.arange(len(place), device=place.device)
        repeated = [repeats(target[:, :t], limits.block_ngrams) for t in range(width if limits.block_ngrams else 0)]
        row = torch.cat([place[:0], *(number[rows * width + t] for t, (rows, _) in enumerate(repeated))])
        token = torch.cat([place[:0], *(tokens for _, tokens in repeated)])
        order = row.argsort()[int((row < 0).sum()) :]  # behind the end of a text nothing is drawn
        return cls(ends, never, place % width < limits.min_length, row[order], token[order])

    def mark(self, words: Tensor, mark: float) -> Tensor:
        """Set ``words`` (N, V) to ``mark`` where they may not follow; return them."""
        for token in self.never:  # a list would be copied to a GPU
            words[:, token] = mark
        for end in self.ends if self.early is not False else ():
            if isinstance(self.early, Tensor):
                words[:, end].masked_fill_(self.early, mark)
            else:
                words[:, end] = mark
        if len(self.row):
            words[self.row, self.token] = mark
        return words

    def select(self, some: Tensor, size: int) -> Forbidden:
        """At some (n,) of ``size`` places, by number in ascending order."""
        number = some.new_full((size,), -1)
        number[some] = torch.arange(len(some), device=some.device)
        row = number[self.row]
        kept, early = row >= 0, self.early if isinstance(self.early, bool) else self.early[some]
        return self._replace(early=early, row=row[kept], token=self.token[kept])

    def split(self, size: int, count: int) -> Iterator[tuple[slice, Forbidden]]:
        """Ranges of at most ``size`` of ``count`` places, and what may not follow in each. Waits for a GPU once."""
        starts = range(0, count, size)
        firsts = torch.searchsorted(self.row, torch.tensor([*starts, count], device=self.row.device))
        for start, (first, last) in zip(starts, pairwise(firsts.tolist()), strict=True):
            rows, own = slice(start, start + size), slice(first, last)
            early = self.early if isinstance(self.early, bool) else self.early[rows]
            yield rows, self._replace(early=early, row=self.row[own] - start, token=self.token[own])


def constrained(limits: Limits, t: int) -> bool:
    """Whether ``limits`` may forbid token ``t``."""
    return t < limits.min_length or limits.block_ngrams > 0


def repeats(ids: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Rows and tokens, both (M,): the tokens that would repeat an n-gram of the ids (R, t); none for n = 0."""
    size = ids.shape[1]
    if size < n or n == 0:
        return ids.new_empty(0), ids.new_empty(0)
    ngrams = ids.unfold(1, n, 1)  # (R, size - n + 1, n)
    begun = (ngrams[:, :, :-1] == ids[:, size - n + 1 :].unsqueeze(1)).all(-1)  # n = 1: all of them
    row, start = begun.nonzero(as_tuple=True)
    return row, ngrams[row, start, -1]
