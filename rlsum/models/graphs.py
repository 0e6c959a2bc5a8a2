"""Steps of a decoder without gradient: calls of a function, or on a GPU one CUDA graph that is replayed.

A step of a small decoder is some hundred short kernels, and to launch them takes longer than to run them. A graph is
launched once. Its tensors stay where they are, so rows that are dropped need another graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from rlsum.models.execution import execution

EAGER = 2  # steps before a graph is recorded: they make what is made once, and many rollouts are over by then
TOLERANCE = 1e-2  # relative: kernels may add up in another order, in half precision, too
Result = TypeVar("Result")


class Graph(Generic[Result]):
    """``step`` as a CUDA graph. ``result``: what it returned when it was recorded, overwritten by every replay."""

    def __init__(self, step: Callable[..., Result], *inputs: Tensor) -> None:
        self._inputs = [tensor.clone() for tensor in inputs]
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self.result = step(*self._inputs)

    def replay(self, *inputs: Tensor) -> Result:
        """The result for other inputs of the same shapes."""
        for kept, new in zip(self._inputs, inputs, strict=True):
            kept.copy_(new)
        self._graph.replay()
        return self.result


class Repeated:
    """A ``step`` from tensors of fixed shapes to a tensor. Called twice with the same inputs it must do the same.

    What it returns is overwritten by the next call.
    """

    def __init__(self, step: Callable[..., Tensor], device: torch.device) -> None:
        self._step, self._taken = step, 0
        self._graph: Graph[Tensor] | None = None
        self._graphs = execution(device).graphs

    def __call__(self, *inputs: Tensor) -> Tensor:
        """The step's result."""
        if self._graph is not None:
            return self._graph.replay(*inputs)
        result, self._taken = self._step(*inputs), self._taken + 1
        if self._graphs and self._taken > EAGER:
            self._graph = recorded(lambda: self._compared(result, *inputs))
            self._graphs = self._graph is not None
        return result

    def _compared(self, expected: Tensor, *inputs: Tensor) -> Graph[Tensor]:
        graph = Graph(self._step, *inputs)
        check_equal(graph.replay(*inputs), expected)
        return graph


def check_equal(replayed: Tensor, expected: Tensor) -> None:
    """Raise AssertionError where a graph computes something else than what it was recorded from."""
    torch.testing.assert_close(replayed, expected, rtol=TOLERANCE, atol=TOLERANCE**2)


def recorded(record: Callable[[], Result]) -> Result | None:
    """What ``record`` makes; None, with a warning, where that fails or computes something else."""
    try:
        return record()
    except (RuntimeError, AssertionError) as error:
        warnings.warn(f"decoding without a CUDA graph, which is slower: {error}", stacklevel=3)
        return None
