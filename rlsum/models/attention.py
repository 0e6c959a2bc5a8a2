"""Additive attention of many decoder steps to the same articles, with gradients accumulated over the steps.

Autograd would allocate two blocks of B x S x A a step and add them up; here the backward pass of a step adds to one
block for the keys, and the gradient of the states is one product after the last step.

Notation: B rows, S source positions, A attention size, D size of the states.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CACHED = 2**19  # numbers processed at once: 2 MB
LARGEST = 80.0  # exp(-80) and exp(80) are within float32's range; a sigmoid is 0 or 1 long before


class Memory:
    """Articles as the decoder reads them in all steps: states (B, S, D) and keys (B, S, A)."""

    def __init__(self, states: Tensor, keys: Tensor) -> None:
        self._key_odds = odds(keys)
        self._work = _Workspace(self._key_odds)
        self._states, self._keys = _Gather.apply(states, keys.float(), self._work)

    def energies(self, query: Tensor, weight: Tensor, spent: Tensor, spent_weight: Tensor | None) -> Tensor:
        """Energies (B, S) sum_a weight_a sigmoid(key + query + spent spent_weight), float32.

        query (B, A), weight (A,), spent (B, S), spent_weight (A,) or None.
        """
        with torch.autocast(query.device.type, enabled=False):
            added = (spent, spent_weight.float()) if spent_weight is not None else (None, None)
            fixed = (self._keys, self._key_odds, self._work)
            energies: Tensor = _Energies.apply(query.float(), weight.float(), *added, *fixed)
        return energies

    def read(self, attention: Tensor) -> Tensor:
        """The context (B, D): states weighted by attention (B, S), in the precision of the states."""
        context: Tensor = _Read.apply(attention.to(self._states.dtype), self._states, self._work)
        return context


def odds(logits: Tensor) -> Tensor:
    """Exp of the negative logits of any shape, float32, no gradient: e^-(k + q) = e^-k e^-q saves an exp a step.

    Logits are clamped to 80, which changes a sigmoid only where a larger key and a larger query cancel each other.
    """
    return logits.detach().float().neg().clamp_(-LARGEST, LARGEST).exp_()


class _Workspace:
    """Gradients accumulated by the steps, and a block of memory for all steps.

    Separate from Memory, which would otherwise reference its own graph in a circle.
    """

    def __init__(self, key_odds: Tensor) -> None:
        self.rows = _rows_at_once(key_odds)
        self.block = torch.empty_like(key_odds[: self.rows])
        self.keys: Tensor | None = None
        self.reads: list[tuple[Tensor, Tensor]] = []  # a step's attention (B, S) and gradient of its context (B, D)
        self.task = -1  # autograd's number of the backward pass they belong to

    def blocks(self, count: int) -> list[slice]:
        """Slices of rows processed together, from 0 to ``count``."""
        return [slice(i, i + self.rows) for i in range(0, count, self.rows)]

    def add_read(self, attention: Tensor, grad: Tensor) -> None:
        """Record the contribution of one step's context to the gradient of the states."""
        self._begin()
        self.reads.append((attention, grad))

    def add_keys(self, rows: slice, slope: Tensor, grad: Tensor, like: Tensor) -> None:
        """Add slope (b, S, A) times grad (b, S, 1) to some rows of the gradient of the keys."""
        self._begin()
        if self.keys is None:
            self.keys = torch.zeros_like(like)
        self.keys[rows].addcmul_(slope, grad)

    def _begin(self) -> None:
        """Discard gradients of an earlier backward pass that never called ``take``."""
        task = torch._C._current_graph_task_id()
        if task != self.task:
            self.reads, self.keys, self.task = [], None, task

    def take(self) -> tuple[Tensor | None, Tensor | None]:
        """Return and reset the gradients of states and keys."""
        d_states, d_keys = None, self.keys
        if self.reads:
            attention, d_context = (torch.stack(parts, 1) for parts in zip(*self.reads, strict=True))
            d_states = attention.transpose(1, 2) @ d_context
        self.reads, self.keys = [], None
        return d_states, d_keys


class _Gather(torch.autograd.Function):
    """Identity on states and keys. Its backward runs after those of all steps and returns the accumulated gradients."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, keys: Tensor, work: _Workspace) -> tuple[Tensor, Tensor]:
        ctx.work = work
        ctx.set_materialize_grads(False)  # the steps return no gradients
        return states.view_as(states), keys.view_as(keys)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor | None, Tensor | None, None]:
        return *ctx.work.take(), None


class _Read(torch.autograd.Function):
    """One step's context."""

    @staticmethod
    def forward(ctx: Any, attention: Tensor, states: Tensor, work: _Workspace) -> Tensor:
        ctx.work = work
        ctx.save_for_backward(attention, states)
        return torch.bmm(attention.unsqueeze(1), states).squeeze(1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        attention, states = ctx.saved_tensors
        grad = grad.to(states.dtype)  # autocast may change the precision of the product above
        ctx.work.add_read(attention, grad)
        return torch.bmm(grad.unsqueeze(1), states.transpose(1, 2)).squeeze(1), None, None


class _Energies(torch.autograd.Function):
    """One step's energies. Backward computes the sigmoids again: on a CPU this is cheaper than to store and load them.

    Rows are processed in blocks that fit the CPU's cache.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, weight: Tensor, spent: Tensor | None, spent_weight: Tensor | None,
                keys: Tensor, key_odds: Tensor, work: _Workspace) -> Tensor:  # fmt: skip
        ctx.work = work
        ctx.save_for_backward(query, weight, spent, spent_weight, key_odds)
        inputs = (work.block, key_odds, query, spent, spent_weight)
        return torch.cat([_sigmoids(rows, *inputs) @ weight for rows in work.blocks(len(query))])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, weight, spent, spent_weight, key_odds = ctx.saved_tensors
        d_query, d_weight, d_spent, d_spent_weight = [], torch.zeros_like(weight), [], torch.zeros_like(weight)
        inputs = (ctx.work.block, key_odds, query, spent, spent_weight)
        for rows in ctx.work.blocks(len(query)):
            sigmoid, g = _sigmoids(rows, *inputs), grad[rows].unsqueeze(1)
            d_weight += (g @ sigmoid).sum((0, 1))
            slope = sigmoid.addcmul_(sigmoid, sigmoid, value=-1).mul_(weight)
            ctx.work.add_keys(rows, slope, g.transpose(1, 2), like=key_odds)
            d_query.append((g @ slope).squeeze(1))
            if spent is not None:
                d_spent.append((slope @ spent_weight) * grad[rows])
                d_spent_weight += ((g * spent[rows].unsqueeze(1)) @ slope).sum((0, 1))
        of_spent = (None, None) if spent is None else (torch.cat(d_spent), d_spent_weight)
        return torch.cat(d_query), d_weight, *of_spent, None, None, None


def _sigmoids(
    rows: slice, block: Tensor, key_odds: Tensor, query: Tensor, spent: Tensor | None, spent_weight: Tensor | None
) -> Tensor:
    """Sigmoid(key + query + spent) of some rows, (b, S, A), in ``block``.

    Overflow and underflow give 0 or 1.
    """
    against = odds(query[rows]).unsqueeze(1)
    if spent is not None and spent_weight is not None:
        against = against * odds(spent[rows].unsqueeze(2) * spent_weight)
    one = torch.ones((), dtype=against.dtype, device=against.device)
    return torch.addcmul(one, key_odds[rows], against, out=block[: len(against)]).reciprocal_()


def _rows_at_once(block: Tensor) -> int:
    """Rows that fit the cache on a CPU, else all rows."""
    return max(1, CACHED // max(1, block[0].numel()) if block.device.type == "cpu" else len(block))
