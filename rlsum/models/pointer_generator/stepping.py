"""Decoder steps without gradient: calls of the model, or on a GPU one CUDA graph that is replayed.

A step of a small decoder is some hundred short kernels, and to launch them takes longer than to run them. A graph is
launched once. Its tensors stay where they are, so rows that are dropped need another graph.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from rlsum.models.execution import execution
from rlsum.models.pointer_generator.encoder import Encoded, State, StepOutput
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns
from rlsum.models.sampling import NextWords

EAGER = 2  # steps before a graph is recorded: they make what is made once, and many rollouts are over by then
TOLERANCE = 1e-2  # relative: kernels may add up in another order, in half precision, too


class Decoder(Protocol):
    """A model that decodes step by step."""

    def start(self, encoded: Encoded) -> State:
        """The state before the first word."""

    def word_columns(self) -> WordColumns:
        """The output layer, prepared once for all steps of a decoding."""

    def advance(
        self, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns
    ) -> tuple[Tensor, StepOutput, State]:
        """P (R, V') of the next word after ``previous`` (R,), what it is computed from, and the state after it."""

    def log_p(self, encoded: Encoded, out: StepOutput, start: int, rows: Tensor) -> Tensor:
        """Log P (n, V') of the next word of some ``rows`` (n,) after row ``start``, computed as such: no underflow."""


class Steps:
    """The steps of a decoder over R rows, one after the other."""

    def __init__(self, model: Decoder, encoded: Encoded) -> None:
        self._model, self._encoded = model, encoded
        self._state, self._columns = model.start(encoded), model.word_columns()
        self._graphs = execution(encoded.mask.device).graphs
        self._graph: Graph | None = None
        self._taken = 0

    def next(self, previous: Tensor) -> NextWords:
        """The next words after ``previous`` (R,). They are overwritten by the next step."""
        if self._graph is None and self._graphs and self._taken >= EAGER:
            self._record(previous)
        self._taken += 1
        if self._graph is not None:
            p, out = self._graph.replay(previous), self._graph.out
        else:
            p, out, self._state = self._model.advance(self._encoded, self._state, previous, self._columns)
        return NextWords(p, partial(self._model.log_p, self._encoded, out, 0))

    def select(self, rows: Tensor) -> None:
        """Go on with some rows, by position."""
        state = self._state if self._graph is None else self._graph.state
        self._encoded, self._state, self._graph = self._encoded.select(rows), state.select(rows), None
        self._taken = 0

    def _record(self, previous: Tensor) -> None:
        """Record a graph and use it from here on, unless it fails or computes something else than the model."""
        try:
            graph = Graph(self._model, self._encoded, self._state, previous, self._columns)
            expected, _, _ = self._model.advance(self._encoded, self._state, previous, self._columns)
            found = graph.replay(previous)
            torch.testing.assert_close(found, expected, rtol=TOLERANCE, atol=TOLERANCE**2)
            graph.reset(self._state)
        except (RuntimeError, AssertionError) as error:
            warnings.warn(f"decoding without a CUDA graph, which is slower: {error}", stacklevel=2)
            self._graphs = False
        else:
            self._graph = graph


class Graph:
    """One step as a CUDA graph, from the state that the last replay left, which is ``state``; ``out``: its output."""

    def __init__(self, model: Decoder, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns) -> None:
        self.state, self._previous = State(*(part.clone() for part in state)), previous.clone()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._p, self.out, after = model.advance(encoded, self.state, self._previous, columns)
            self.reset(after)

    def replay(self, previous: Tensor) -> Tensor:
        """P (R, V') of the next word after ``previous`` (R,)."""
        self._previous.copy_(previous)
        self._graph.replay()
        return self._p

    def reset(self, state: State) -> None:
        """Go on from another state."""
        for part, new in zip(self.state, state, strict=True):
            part.copy_(new)
