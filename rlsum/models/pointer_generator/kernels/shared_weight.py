"""A weight whose rows every step of a decoder looks up, with one gradient after the last step.

Notation: n rows of m numbers, R look-ups a step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rlsum.models.pointer_generator.kernels.word_scores import precision


class SharedWeight:
    """A weight (n, m) whose rows all steps look up, in the precision of autocast if enabled.

    Its gradient is one sum after the last step: autograd would build and add up one in every step. ``without``: a row
    whose look-ups give no gradient.
    """

    def __init__(self, weight: Tensor, without: int | None = None) -> None:
        self._steps = _Steps(without)
        self._weight: Tensor = _Root.apply(weight.to(precision(weight)), self._steps)

    def rows(self, ids: Tensor) -> Tensor:
        """(R,) -> (R, m): rows of the weight."""
        rows: Tensor = _LookUp.apply(self._weight, ids, self._steps)
        return rows


class _Steps:
    """What the backward passes of the steps leave: ids (R,), and gradients (R, m) of their rows."""

    def __init__(self, without: int | None) -> None:
        self.without, self.task = without, -1
        self.parts: list[tuple[Tensor, Tensor]] = []

    def add(self, ids: Tensor, grad: Tensor) -> None:
        task = torch._C._current_graph_task_id()
        if task != self.task:  # what an earlier backward pass left did not reach the root
            self.parts, self.task = [], task
        self.parts.append((ids, grad))


class _Root(torch.autograd.Function):
    """Identity. Its backward runs after those of all steps and returns the gradients that they left."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, steps: _Steps) -> Tensor:
        ctx.steps, ctx.shape = steps, weight.shape
        ctx.set_materialize_grads(False)  # the steps return no gradients
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, _: None) -> tuple[Tensor | None, None]:
        parts, ctx.steps.parts = ctx.steps.parts, []
        if not parts:
            return None, None
        ids, grad = (torch.cat(pieces) for pieces in zip(*parts, strict=True))
        d_weight = grad.new_zeros(ctx.shape).index_add_(0, ids, grad)
        if ctx.steps.without is not None:
            d_weight[ctx.steps.without] = 0.0
        return d_weight, None


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, ids: Tensor, steps: _Steps) -> Tensor:
        ctx.steps = steps
        ctx.save_for_backward(ids)
        return weight.index_select(0, ids)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None]:
        (ids,) = ctx.saved_tensors
        ctx.steps.add(ids, grad)
        return None, None, None
