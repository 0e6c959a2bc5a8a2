"""Which tokens may not follow: the one place for each constraint of decoding. Drawing, scoring and searching ask it.

Notation: N places, each behind some tokens of a text; R texts of t or T tokens; V possible tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.models.decoding import Limits


@dataclass(frozen=True)
class Constraints:
    """What ``limits`` forbid in R texts of a batch.

    batch    its articles, and what ends a text
    article  (R,) the article of each text, for a constraint that reads it
    never    what no text has
    """

    limits: Limits
    batch: Batch
    article: Tensor
    never: Sequence[int] = ()

    def may_forbid(self, t: int) -> bool:
        """Whether token ``t`` of a text may be forbidden."""
        return t < self.limits.min_length or self.limits.block_ngrams > 0

    def select(self, texts: Tensor) -> Constraints:
        """The constraints of some texts, by number."""
        return replace(self, article=self.article[texts])

    def after(self, ids: Tensor) -> Forbidden:
        """What may not follow at the end of each text (R, t)."""
        n, size = self.limits.block_ngrams, ids.shape[1]
        found = Forbidden(self.batch.ends, self.never, size < self.limits.min_length)
        if n == 0 or size < n:
            return found
        return found._replace(begun=_same(ids, n, size - n + 1, size - n + 2).squeeze(1), tokens=ids[:, n - 1 :])

    def within(self, target: Tensor, place: Tensor) -> Forbidden:
        """What may not follow at places (N,) of the flattened texts (R, T), given the text before each."""
        n, width = self.limits.block_ngrams, target.shape[1]
        text, t = place // width, place % width
        found = Forbidden(self.batch.ends, self.never, t < self.limits.min_length)
        if n == 0 or width <= n:
            return found
        begun = F.pad(_same(target, n, 0, width - n + 1), (0, 0, n - 1, 0))  # (R, T, P)
        earlier = torch.arange(begun.shape[2], device=place.device) <= (t - n).unsqueeze(1)
        return found._replace(begun=begun.flatten(0, 1)[place] & earlier, tokens=target[:, n - 1 :], text=text)


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


def _same(ids: Tensor, n: int, first: int, last: int) -> Tensor:
    """Whether the n - 1 tokens of ids (R, t) from a place on begin an n-gram: (R, last - first, t - n + 1).

    At places from ``first`` to before ``last``, and for every n-gram; n = 1: always.
    """
    count = ids.shape[1] - n + 1
    same = torch.ones(len(ids), last - first, count, dtype=torch.bool, device=ids.device)
    for i in range(n - 1):
        same &= ids[:, first + i : last + i].unsqueeze(2) == ids[:, i : i + count].unsqueeze(1)
    return same
