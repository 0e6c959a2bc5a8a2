"""Additive attention of many decoder steps to the same articles, with gradients accumulated over the steps.

Autograd would allocate two blocks of R x S x A a step and add them up; here the backward pass of a step adds to one
block for the keys, and the gradient of the states is one product after the last step. On a CPU, rows that read the same
article, such as its samples, share its states and keys.

Notation: N articles, R rows, S source positions, A attention size, D size of the states; n articles and k rows of each
in a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rlsum.models.execution import execution

CACHED = 2**19  # numbers processed at once: 2 MB
LARGEST = 80.0  # exp(-80) and exp(80) are within float32's range; a sigmoid is 0 or 1 long before


class Memory:
    """Articles as the decoder reads them in all steps: states (N, S, D) and keys (N, S, A). Row i reads article i."""

    def __init__(self, states: Tensor, keys: Tensor) -> None:
        self._inputs, self._work = (states, keys), _Workspace(keys)
        self.states, self._keys = _Gather.apply(states, keys.float(), self._work)
        self._rows = self._learners = _Rows.of(range(len(keys)), keys)

    def select(self, rows: Tensor, learning: int | None = None) -> Memory:
        """Rows by number (R,). On a CPU, they share what their articles have in memory, and only the first ``learning``
        rows (None: all) get a gradient.
        """
        if not execution(self._keys.device).shares_articles:  # a copy, so that all rows stay one block
            return Memory(*(tensor[rows] for tensor in self._inputs))
        selected = copy(self)
        article = [self._rows.article[row] for row in rows.tolist()]
        selected._rows = selected._learners = _Rows.of(article, self._keys)
        if learning is not None and learning < len(article):
            selected._learners = _Rows.of(article[:learning], self._keys)
        return selected

    def energies(self, query: Tensor, weight: Tensor, spent: Tensor, spent_weight: Tensor | None) -> Tensor:
        """Energies (R, S) sum_a weight_a sigmoid(key + query + spent spent_weight), float32.

        query (R, A), weight (A,) of the same values in all steps, spent (R, S), spent_weight (A,) or None.
        """
        with torch.autocast(query.device.type, enabled=False):
            added = (spent, spent_weight.float()) if spent_weight is not None else (None, None)
            fixed = (self._keys, self._rows, self._learners, self._work)
            energies: Tensor = _Energies.apply(query.float(), weight.float(), *added, *fixed)
        return energies

    def read(self, attention: Tensor) -> Tensor:
        """The context (R, D): states weighted by attention (R, S), in the precision of the states."""
        context: Tensor = _Read.apply(
            attention.to(self.states.dtype), self.states, self._rows, self._learners, self._work
        )
        return context


class PlainMemory:
    """What ``Memory`` computes, by the formula under autograd: tests compare the two."""

    def __init__(self, states: Tensor, keys: Tensor) -> None:
        self.states, self.keys = states, keys

    def energies(self, query: Tensor, weight: Tensor, spent: Tensor, spent_weight: Tensor | None) -> Tensor:
        """See Memory.energies."""
        inner = self.keys + query.unsqueeze(1)
        if spent_weight is not None:
            inner = inner + spent.unsqueeze(2) * spent_weight
        return inner.sigmoid() @ weight

    def read(self, attention: Tensor) -> Tensor:
        """See Memory.read."""
        return (attention.unsqueeze(2) * self.states).sum(1)


class _Block(NamedTuple):
    """Rows processed together: k rows of each of n articles, one article after the other."""

    articles: slice
    n: int
    k: int

    def by_article(self, values: Tensor) -> Tensor:
        """Values (n * k, ...) of these rows -> (n, k, ...)."""
        return values.view(self.n, self.k, *values.shape[1:])


def _split(values: Tensor, blocks: Sequence[_Block]) -> tuple[Tensor, ...]:
    """Values (R, ...), in the order of the articles, of the rows of each block."""
    return values.split([block.n * block.k for block in blocks])


class _Rows(NamedTuple):
    """The article of each row (R,), and the rows in the order of their articles: in blocks that fit the cache, and in
    as few blocks as possible. ``order``: numbers of the rows in that order, and the way back; None: it is their own.
    """

    article: Sequence[int]
    order: tuple[Tensor, Tensor] | None
    blocks: list[_Block]
    large_blocks: list[_Block]

    @classmethod
    def of(cls, article: Sequence[int], keys: Tensor) -> _Rows:
        """If all articles have equally many rows, blocks have several articles. Else each has its own."""
        k, most, order = max(1, len(article) // len(keys)), _rows_at_once(keys), None
        by_article = sorted(range(len(article)), key=article.__getitem__)
        if by_article != list(range(len(article))):
            there = torch.tensor(by_article, device=keys.device)
            order = there, there.argsort()
        counts = Counter(article)
        if k <= most and all(counts[number] == k for number in range(len(keys))):
            n, whole = most // k, slice(0, len(keys))
            blocks = [_Block(piece, piece.stop - piece.start, k) for piece in _ranges(len(keys), n)]
            return cls(article, order, blocks, [_Block(whole, len(keys), k)])
        blocks, large_blocks = [], []
        for number, count in sorted(counts.items()):
            article_slice = slice(number, number + 1)
            large_blocks.append(_Block(article_slice, 1, count))
            blocks += [_Block(article_slice, 1, piece.stop - piece.start) for piece in _ranges(count, most)]
        return cls(article, order, blocks, large_blocks)

    def ordered(self, values: Tensor) -> Tensor:
        """Values (R, ...) of the rows, in the order of their articles."""
        return values if self.order is None else values.index_select(0, self.order[0])

    def restored(self, values: Tensor, count: int = 0) -> Tensor:
        """Values (R, ...) in the order of the articles, for the rows; then zeros for more rows, up to ``count``."""
        values = values if self.order is None else values.index_select(0, self.order[1])
        return values if len(values) >= count else F.pad(values, (0, 0, 0, count - len(values)))


class _Room(NamedTuple):
    """The same memory as (n, k, S, A), as (n * k, S, A), as (n * k * S, A), and as k times (n, S, A)."""

    whole: Tensor
    rows: Tensor
    flat: Tensor
    columns: tuple[Tensor, ...]

    @classmethod
    def of(cls, whole: Tensor) -> _Room:
        """All from the first."""
        return cls(whole, whole.flatten(0, 1), whole.flatten(0, 2), whole.unbind(1))


class _Workspace:
    """Gradients accumulated by the steps, and a block of memory for all steps.

    Separate from Memory, which would otherwise reference its own graph in a circle.
    """

    def __init__(self, keys: Tensor) -> None:
        self.key_odds: Tensor | None = None
        self.block, self.one, self.shape = keys.new_empty(0).float(), keys.new_ones(()).float(), keys.shape[1:]
        self.rooms: dict[tuple[int, int], _Room] = {}
        self.keys: Tensor | None = None
        self.weight = keys.new_empty(0)
        self.reads: list[tuple[Sequence[int], Tensor, Tensor]] = []  # articles, attention (R, S), d context (R, D)
        self.task = -1  # autograd's number of the backward pass they belong to

    def room(self, block: _Block) -> _Room:
        """Uninitialised memory for a block, the same in each call. Its views are made once: a step takes many."""
        if (block.n, block.k) not in self.rooms:
            size = block.n * block.k * self.shape.numel()
            if len(self.block) < size:
                self.block, self.rooms = self.block.new_empty(size), {}
            self.rooms[block.n, block.k] = _Room.of(self.block[:size].view(block.n, block.k, *self.shape))
        return self.rooms[block.n, block.k]

    def add_read(self, article: Sequence[int], attention: Tensor, grad: Tensor) -> None:
        """Record the contribution of one step's context to the gradient of the states."""
        self._begin()
        self.reads.append((article, attention, grad))

    def of_keys(self, weight: Tensor, like: Tensor) -> Tensor:
        """The gradient so far of the keys, like keys (N, S, A), without ``weight`` (A,), which all steps multiply."""
        self._begin()
        if self.keys is None:
            self.keys, self.weight = torch.zeros_like(like), weight
        return self.keys

    def _begin(self) -> None:
        """Discard gradients of an earlier backward pass that never called ``take``."""
        task = torch._C._current_graph_task_id()
        if task != self.task:
            self.reads, self.keys, self.task = [], None, task

    def take(self, articles: int) -> tuple[Tensor | None, Tensor | None]:
        """Return and reset the gradients of states and keys of all ``articles``."""
        d_states, d_keys = None, None if self.keys is None else self.keys.mul_(self.weight)
        if self.reads:
            article = [number for articles_read, _, _ in self.reads for number in articles_read]
            attention, d_context = (torch.cat(parts) for parts in list(zip(*self.reads, strict=True))[1:])
            order = torch.tensor(sorted(range(len(article)), key=article.__getitem__), device=attention.device)
            counts = [article.count(number) for number in range(articles)]
            by_article = [pad_sequence(x[order].split(counts), batch_first=True) for x in (attention, d_context)]
            d_states = by_article[0].transpose(1, 2) @ by_article[1]
        self.reads, self.keys = [], None
        return d_states, d_keys


class _Gather(torch.autograd.Function):
    """Identity on states and keys. Its backward runs after those of all steps and returns the accumulated gradients."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, keys: Tensor, work: _Workspace) -> tuple[Tensor, Tensor]:
        ctx.work, ctx.articles = work, len(states)
        ctx.set_materialize_grads(False)  # the steps return no gradients
        return states.view_as(states), keys.view_as(keys)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor | None, Tensor | None, None]:
        return *ctx.work.take(ctx.articles), None


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, attention: Tensor, states: Tensor, rows: _Rows, learners: _Rows, work: _Workspace) -> Tensor:
        ctx.rows, ctx.work = learners, work
        ctx.save_for_backward(attention, states)
        return rows.restored(_times(rows.ordered(attention), states, rows.large_blocks))  # in autocast's precision

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        attention, states = ctx.saved_tensors
        rows, count = ctx.rows, len(grad)
        some = slice(len(rows.article))
        grad = grad[some].to(states.dtype)  # autocast may change the precision of the product above
        ctx.work.add_read(rows.article, attention[some], grad)
        d_attention = _times(rows.ordered(grad), states.transpose(1, 2), rows.large_blocks)
        return rows.restored(d_attention, count), None, None, None, None


def _times(values: Tensor, of_articles: Tensor, blocks: Sequence[_Block]) -> Tensor:
    """Values (R, m) of rows, in the order of their articles, times the matrix of the article (N, m, n) -> (R, n)."""
    pairs = zip(blocks, _split(values, blocks), strict=True)
    products = [(block.by_article(rows) @ of_articles[block.articles]).flatten(0, 1) for block, rows in pairs]
    return products[0] if len(products) == 1 else torch.cat(products)


class _Energies(torch.autograd.Function):
    """One step's energies. Backward computes the sigmoids again: on a CPU this is cheaper than to store and load them.

    Rows are processed in blocks that fit the CPU's cache.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, weight: Tensor, spent: Tensor | None, spent_weight: Tensor | None,
                keys: Tensor, rows: _Rows, learners: _Rows, work: _Workspace) -> Tensor:  # fmt: skip
        ctx.rows, ctx.work = learners, work
        ctx.save_for_backward(query, weight, spent, spent_weight, keys)
        query, spent = rows.ordered(query), None if spent is None else rows.ordered(spent)
        energies = query.new_empty(len(query), keys.shape[1])
        sigmoids = _sigmoids(rows, work, keys, query, spent, spent_weight)
        for (_, sigmoid), out in zip(sigmoids, _split(energies, rows.blocks), strict=True):
            torch.mv(sigmoid.flat, weight, out=out.view(-1))
        return rows.restored(energies)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, weight, spent, spent_weight, keys = ctx.saved_tensors
        rows, count = ctx.rows, len(grad)
        some = slice(len(rows.article))
        query, grad = rows.ordered(query[some]), rows.ordered(grad[some])
        spent = None if spent is None else rows.ordered(spent[some])
        # by query and by what was spent; all but those by spent are multiplied by the weight at the end
        d_energy = grad.unsqueeze(1)
        factors = d_energy if spent is None else torch.stack([grad, grad * spent], 1)  # (R, 1 or 2, S)
        sums, of_weight = query.new_empty(*factors.shape[:2], len(weight)), query.new_empty(len(query), 1, len(weight))
        d_spent, scale = query.new_empty(grad.shape), None if spent_weight is None else weight * spent_weight
        d_keys = ctx.work.of_keys(weight, like=keys)
        sigmoids = _sigmoids(rows, ctx.work, keys, query, spent, spent_weight)
        parts = (_split(values, rows.blocks) for values in (d_energy, factors, of_weight, sums, d_spent))
        for (block, sigmoid), g, factor, to_weight, to_sums, to_spent in zip(sigmoids, *parts, strict=True):
            torch.bmm(g, sigmoid.rows, out=to_weight)
            slope = sigmoid.rows.addcmul_(sigmoid.rows, sigmoid.rows, value=-1)
            torch.bmm(factor, slope, out=to_sums)
            if scale is not None:
                torch.mv(sigmoid.flat, scale, out=to_spent.view(-1))
            own_keys = d_keys[block.articles]
            for column, times in zip(sigmoid.columns, block.by_article(g).transpose(2, 3).unbind(1), strict=True):
                own_keys.addcmul_(column, times)
        sums *= weight
        of_spent = (None, None) if spent is None else (rows.restored(d_spent.mul_(grad), count), sums[:, 1].sum(0))
        return rows.restored(sums[:, 0], count), of_weight.sum((0, 1)), *of_spent, None, None, None, None


def _sigmoids(
    rows: _Rows, work: _Workspace, keys: Tensor, query: Tensor, spent: Tensor | None, spent_weight: Tensor | None
) -> Iterator[tuple[_Block, _Room]]:
    """Sigmoid(key + query + spent spent_weight) of each block of rows, all in the same memory.

    Overflow and underflow give 0 or 1.
    """
    blocks = rows.blocks
    if spent is not None and spent_weight is not None:
        parts = zip(blocks, _split(query.unsqueeze(1), blocks), _split(spent.unsqueeze(2), blocks), strict=True)
        for block, own_query, own_spent in parts:
            room, own_keys = work.room(block), keys[block.articles].unsqueeze(1)
            torch.addcmul(own_keys, block.by_article(own_spent), spent_weight, out=room.whole)
            room.whole.add_(block.by_article(own_query)).sigmoid_()
            yield block, room
        return
    if work.key_odds is None:
        work.key_odds = odds(keys)
    for block, own_query in zip(blocks, _split(odds(query).unsqueeze(1), blocks), strict=True):
        room, own_keys = work.room(block), work.key_odds[block.articles].unsqueeze(1)
        # e^-(k + q) = e^-k e^-q saves an exp a step
        torch.addcmul(work.one, own_keys, block.by_article(own_query), out=room.whole).reciprocal_()
        yield block, room


def odds(logits: Tensor) -> Tensor:
    """Exp of the negative logits of any shape, float32, no gradient.

    Logits are clamped to 80, which changes a sigmoid only where a larger key and a larger query cancel each other.
    """
    return logits.detach().float().neg().clamp_(-LARGEST, LARGEST).exp_()


def _rows_at_once(keys: Tensor) -> int:
    """Rows that fit the cache on a CPU, else all rows."""
    return max(1, CACHED // max(1, keys[0].numel()) if execution(keys.device).shares_articles else 2**31)


def _ranges(count: int, most: int) -> list[slice]:
    """The numbers up to ``count`` in ranges of at most ``most``."""
    return [slice(first, min(first + most, count)) for first in range(0, count, most)]
