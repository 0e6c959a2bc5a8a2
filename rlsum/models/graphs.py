"""Steps of a decoder without gradient: calls of a function, or on a GPU one CUDA graph that is replayed.

A step of a small decoder is some hundred short kernels, and to launch them takes longer than to run them. A graph is
launched once. Its tensors stay where they are, so rows that are dropped need another graph.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from rlsum.models.execution import execution

EAGER = 2  # steps before a graph is recorded: they make what is made once, and many rollouts are over by then
TOLERANCE = 1e-2  # relative: kernels may add up in another order, in half precision, too
BROKEN: list[Any] = []  # graphs whose recording failed: torch's memory goes on asking them
Result = TypeVar("Result")


class Graph(Generic[Result]):
    """``step`` as a CUDA graph. ``result``: what it returned when it was recorded, overwritten by every replay."""

    def __init__(self, step: Callable[..., Result], *inputs: Tensor) -> None:
        self._inputs = [tensor.clone() for tensor in inputs]
        self._graph, usual = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        try:
            with nothing_collected(), torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
                self.result = step(*self._inputs)
        except RuntimeError:
            self._recover(usual)
            raise

    def replay(self, *inputs: Tensor) -> Result:
        """The result for other inputs of the same shapes."""
        for kept, new in zip(self._inputs, inputs, strict=True):
            kept.copy_(new)
        self._graph.replay()
        return self.result

    def _recover(self, usual: Any) -> None:
        """Leave the stream of a recording that failed, and record something else: until then no number is drawn."""
        BROKEN.append(self._graph)
        torch.cuda.set_stream(usual)
        with nothing_collected(), torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.zeros((), device=usual.device)


class Repeated:
    """The same step again and again, from tensors of fixed shapes to a tensor; with equal inputs it must do the same.

    It does not keep the step, whose owner keeps it: without a circle a graph is freed when its texts are ready.
    """

    def __init__(self, device: torch.device) -> None:
        self._taken = 0
        self._graph: Graph[Tensor] | None = None
        self._graphs = execution(device).graphs

    def __call__(self, step: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        """The step's result, which the next call overwrites."""
        if self._graph is not None:
            return self._graph.replay(*inputs)
        result, self._taken = step(*inputs), self._taken + 1
        if self._graphs and self._taken > EAGER:
            self._graph = recorded(lambda: _compared(result, step, *inputs))
            self._graphs = self._graph is not None
        return result


def _compared(expected: Tensor, step: Callable[..., Tensor], *inputs: Tensor) -> Graph[Tensor]:
    graph = Graph(step, *inputs)
    check_equal(graph.replay(*inputs), expected)
    return graph


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Without garbage collection, which may free another graph: while one is recorded, the driver refuses that."""
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


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
