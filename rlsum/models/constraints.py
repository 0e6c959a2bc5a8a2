"""Which tokens may not follow: the one place for each constraint of decoding. Drawing, scoring and searching ask it.

Notation: N places, each behind some tokens of a text; R texts of t or T tokens; V possible tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.models.decoding import Limits


class Forbidden(NamedTuple):
    """What may not follow at N places. Nothing here waits for a GPU.

    ends, never  what ends a text; what no text has
    early        where no end may follow yet: (N,) bool, or one for all places
    begun        (N, P) bool: whether the ``tokens`` would repeat an n-gram; None: no n-grams are blocked
    tokens       (R, P) ids of the texts that have P n-grams
    text         (N,) the text of a place; None: the places are those of the texts
    """

    ends: Sequence[int]
    never: Sequence[int]
    early: Tensor | bool
    begun: Tensor | None = None
    tokens: Tensor | None = None
    text: Tensor | None = None

    @classmethod
    def after(cls, ids: Tensor, limits: Limits, ends: Sequence[int], never: Sequence[int] = ()) -> Forbidden:
        """What may not follow at the end of each text (R, t)."""
        n, size = limits.block_ngrams, ids.shape[1]
        early = size < limits.min_length
        if n == 0 or size < n:
            return cls(ends, never, early)
        return cls(ends, never, early, _same(ids, n, size - n + 1, size - n + 2).squeeze(1), ids[:, n - 1 :])

    @classmethod
    def within(
        cls, target: Tensor, place: Tensor, limits: Limits, ends: Sequence[int], never: Sequence[int] = ()
    ) -> Forbidden:
        """What may not follow at places (N,) of flattened texts (R, T), given the tokens of the text before each."""
        n, width = limits.block_ngrams, target.shape[1]
        text, t = place // width, place % width
        early = t < limits.min_length
        if n == 0 or width <= n:
            return cls(ends, never, early)
        begun = F.pad(_same(target, n, 0, width - n + 1), (0, 0, n - 1, 0))  # (R, T, P)
        earlier = torch.arange(begun.shape[2], device=place.device) <= (t - n).unsqueeze(1)
        return cls(ends, never, early, begun.flatten(0, 1)[place] & earlier, target[:, n - 1 :], text)

    def mark(self, words: Tensor, mark: float) -> Tensor:
        """Set ``words`` (N, V) to ``mark`` where they may not follow; return them."""
        for token in self.never:  # a list would be copied to a GPU
            words[:, token] = mark
        for end in self.ends if self.early is not False else ():
            if isinstance(self.early, Tensor):
                words[:, end].masked_fill_(self.early, mark)
            else:
                words[:, end] = mark
        if self.begun is None or self.tokens is None:
            return words
        tokens = self.tokens if self.text is None else self.tokens[self.text]
        first = tokens.gather(1, self.begun.byte().argmax(1, keepdim=True))
        repeated = torch.where(self.begun, tokens, first)  # where there is none, any token, as it was
        return words.scatter_(
            1, repeated, words.gather(1, repeated).masked_fill_(self.begun.any(1, keepdim=True), mark)
        )

    def select(self, some: Tensor | slice) -> Forbidden:
        """What may not follow at some (n,) of the places, by number."""
        begun = None if self.begun is None else self.begun[some]
        early = self.early if isinstance(self.early, bool) else self.early[some]
        if begun is None or self.tokens is None or self.text is not None:
            return self._replace(early=early, begun=begun, text=None if self.text is None else self.text[some])
        return self._replace(early=early, begun=begun, tokens=self.tokens[some])

    def split(self, size: int, count: int) -> Iterator[tuple[slice, Forbidden]]:
        """Ranges of at most ``size`` of ``count`` places, and what may not follow in each."""
        for start in range(0, count, size):
            rows = slice(start, start + size)
            yield rows, self.select(rows)


def constrained(limits: Limits, t: int) -> bool:
    """Whether ``limits`` may forbid token ``t``."""
    return t < limits.min_length or limits.block_ngrams > 0


def _same(ids: Tensor, n: int, first: int, last: int) -> Tensor:
    """Whether the n - 1 tokens of ids (R, t) from a place on begin an n-gram: (R, last - first, t - n + 1).

    At places from ``first`` to before ``last``, and for every n-gram; n = 1: always.
    """
    count = ids.shape[1] - n + 1
    same = torch.ones(len(ids), last - first, count, dtype=torch.bool, device=ids.device)
    for i in range(n - 1):
        same &= ids[:, first + i : last + i].unsqueeze(2) == ids[:, i : i + count].unsqueeze(1)
    return same
