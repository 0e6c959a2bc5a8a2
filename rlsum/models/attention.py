"""Additive attention of many decoder steps to the same articles, with gradients accumulated over the steps.

Autograd would allocate two blocks of R x S x A a step and add them up; here the backward pass of a step adds to one
block for the keys, and the gradient of the states is one product after the last step. On a CPU, rows that read the same
article, such as its samples, share its states and keys.

Notation: N articles, R rows, S source positions, A attention size, D size of the states; n articles and k rows of each
in a block.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

CACHED = 2**19  # numbers processed at once: 2 MB
LARGEST = 80.0  # exp(-80) and exp(80) are within float32's range; a sigmoid is 0 or 1 long before


class Memory:
    """Articles as the decoder reads them in all steps: states (N, S, D) and keys (N, S, A). Row i reads article i."""

    def __init__(self, states: Tensor, keys: Tensor) -> None:
        self._given, self._work = (states, keys), _Workspace(keys)
        self.states, self._keys = _Gather.apply(states, keys.float(), self._work)
        self._rows = self._learners = _Rows.of(range(len(keys)), keys)

    def select(self, rows: Tensor, learning: int | None = None) -> Memory:
        """Rows by number (R,). On a CPU, they share what their articles have in memory, and only the first ``learning``
        rows (None: all) get a gradient.
        """
        if self._keys.device.type != "cpu":  # a copy, so that all rows stay one block
            return Memory(*(given[rows] for given in self._given))
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


class _Block(NamedTuple):
    """Rows processed together: k rows of each of the articles, one article after the other."""

    articles: slice
    rows: slice
    k: int

    def of_rows(self, values: Tensor) -> Tensor:
        """Values (R, ...) of these rows, (n, k, ...)."""
        return values[self.rows].unflatten(0, (-1, self.k))


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
            n = most // k
            blocks = [_Block(slice(i, i + n), slice(i * k, (i + n) * k), k) for i in range(0, len(keys), n)]
            return cls(article, order, blocks, [_Block(slice(None), slice(None), k)])
        blocks, large_blocks, start = [], [], 0
        for number, count in sorted(counts.items()):
            large_blocks.append(_Block(slice(number, number + 1), slice(start, start + count), count))
            for first in range(start, start + count, most):
                rows = slice(first, min(first + most, start + count))
                blocks.append(_Block(slice(number, number + 1), rows, rows.stop - first))
            start += count
        return cls(article, order, blocks, large_blocks)

    def ordered(self, values: Tensor) -> Tensor:
        """Values (R, ...) of the rows, in the order of their articles."""
        return values if self.order is None else values[self.order[0]]

    def restored(self, values: Tensor, count: int = 0) -> Tensor:
        """Values (R, ...) in the order of the articles, for the rows; then zeros for more rows, up to ``count``."""
        values = values if self.order is None else values[self.order[1]]
        return values if len(values) >= count else F.pad(values, (0, 0, 0, count - len(values)))


class _Workspace:
    """Gradients accumulated by the steps, and a block of memory for all steps.

    Separate from Memory, which would otherwise reference its own graph in a circle.
    """

    def __init__(self, keys: Tensor) -> None:
        self.key_odds: Tensor | None = None
        self.block, self.one = keys.new_empty(0).float(), keys.new_ones(()).float()
        self.keys: Tensor | None = None
        self.weight = keys.new_empty(0)
        self.reads: list[tuple[Sequence[int], Tensor, Tensor]] = []  # articles, attention (R, S), d context (R, D)
        self.task = -1  # autograd's number of the backward pass they belong to

    def room(self, *shape: int) -> Tensor:
        """Uninitialised memory, the same in each call."""
        size = math.prod(shape)
        if len(self.block) < size:
            self.block = self.block.new_empty(size)
        return self.block[:size].view(shape)

    def add_read(self, article: Sequence[int], attention: Tensor, grad: Tensor) -> None:
        """Record the contribution of one step's context to the gradient of the states."""
        self._begin()
        self.reads.append((article, attention, grad))

    def add_keys(self, articles: slice, slope: Tensor, grad: Tensor, weight: Tensor, like: Tensor) -> None:
        """Add slope (n, k, S, A) times grad (n, k, S, 1) times weight (A,), the same in all steps, summed over k, to
        the gradient of some articles' keys.
        """
        self._begin()
        if self.keys is None:
            self.keys, self.weight = torch.zeros_like(like), weight
        for of_row, scale in zip(slope.unbind(1), grad.unbind(1), strict=True):
            self.keys[articles].addcmul_(of_row, scale)

    def _begin(self) -> None:
        """Discard gradients of an earlier backward pass that never called ``take``."""
        task = torch._C._current_graph_task_id()
        if task != self.task:
            self.reads, self.keys, self.task = [], None, task

    def take(self, articles: int) -> tuple[Tensor | None, Tensor | None]:
        """Return and reset the gradients of states and keys of all ``articles``."""
        d_states, d_keys = None, None if self.keys is None else self.keys.mul_(self.weight)
        if self.reads:
            article = [number for part, _, _ in self.reads for number in part]
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
        attention = rows.ordered(attention)
        parts = [(block.of_rows(attention) @ states[block.articles]).flatten(0, 1) for block in rows.large_blocks]
        return rows.restored(parts[0] if len(parts) == 1 else torch.cat(parts))  # in the precision of autocast

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        attention, states = ctx.saved_tensors
        rows, count = ctx.rows, len(grad)
        some = slice(len(rows.article))
        grad = grad[some].to(states.dtype)  # autocast may change the precision of the product above
        ctx.work.add_read(rows.article, attention[some], grad)
        grad = rows.ordered(grad)
        parts = [
            (block.of_rows(grad) @ states[block.articles].transpose(1, 2)).flatten(0, 1) for block in rows.large_blocks
        ]
        return rows.restored(parts[0] if len(parts) == 1 else torch.cat(parts), count), None, None, None, None


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
        by_query = odds(query) if spent is None else query
        for block in rows.blocks:
            sigmoid = _sigmoids(block, work, keys, by_query, spent, spent_weight)
            energies[block.rows] = (sigmoid @ weight).flatten(0, 1)
        return rows.restored(energies)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, weight, spent, spent_weight, keys = ctx.saved_tensors
        rows, count = ctx.rows, len(grad)
        some = slice(len(rows.article))
        query, grad = rows.ordered(query[some]), rows.ordered(grad[some])
        spent = None if spent is None else rows.ordered(spent[some])
        # by query and by what was spent; all but those by spent are multiplied by the weight at the end
        factors = grad.unsqueeze(1) if spent is None else torch.stack([grad, grad * spent], 1)  # (R, 1 or 2, S)
        sums, d_weight = query.new_empty(len(query), factors.shape[1], len(weight)), torch.zeros_like(weight)
        d_spent, by_query = torch.empty_like(grad), odds(query) if spent is None else query
        for block in rows.blocks:
            sigmoid = _sigmoids(block, ctx.work, keys, by_query, spent, spent_weight)
            g = block.of_rows(grad).unsqueeze(2)  # (n, k, 1, S)
            d_weight += (g @ sigmoid).sum((0, 1, 2))
            slope = sigmoid.addcmul_(sigmoid, sigmoid, value=-1)
            ctx.work.add_keys(block.articles, slope, g.transpose(2, 3), weight, like=keys)
            sums[block.rows] = (block.of_rows(factors) @ slope).flatten(0, 1)
            if spent is not None:
                d_spent[block.rows] = ((slope @ (weight * spent_weight)) * g.squeeze(2)).flatten(0, 1)
        sums *= weight
        of_spent = (None, None) if spent is None else (rows.restored(d_spent, count), sums[:, 1].sum(0))
        return rows.restored(sums[:, 0], count), d_weight, *of_spent, None, None, None, None


def _sigmoids(
    block: _Block, work: _Workspace, keys: Tensor, query: Tensor, spent: Tensor | None, spent_weight: Tensor | None
) -> Tensor:
    """Sigmoid(key + query + spent spent_weight) of a block's rows, (n, k, S, A), in the memory of ``work``.

    Without ``spent``, ``query`` is the odds of the queries. Overflow and underflow give 0 or 1.
    """
    own_query, own_keys = block.of_rows(query).unsqueeze(2), keys[block.articles].unsqueeze(1)
    out = work.room(*own_query.shape[:2], *keys.shape[1:])
    if spent is not None and spent_weight is not None:
        torch.addcmul(own_keys, block.of_rows(spent).unsqueeze(3), spent_weight, out=out)
        return out.add_(own_query).sigmoid_()
    # e^-(k + q) = e^-k e^-q saves an exp a step
    if work.key_odds is None:
        work.key_odds = odds(keys)
    return torch.addcmul(work.one, work.key_odds[block.articles].unsqueeze(1), own_query, out=out).reciprocal_()


def odds(logits: Tensor) -> Tensor:
    """Exp of the negative logits of any shape, float32, no gradient.

    Logits are clamped to 80, which changes a sigmoid only where a larger key and a larger query cancel each other.
    """
    return logits.detach().float().neg().clamp_(-LARGEST, LARGEST).exp_()


def _rows_at_once(keys: Tensor) -> int:
    """Rows that fit the cache on a CPU, else all rows."""
    return max(1, CACHED // max(1, keys[0].numel()) if keys.device.type == "cpu" else 2**31)
