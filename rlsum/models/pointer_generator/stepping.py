"""Decoder steps without gradient: calls of the model, or on a GPU one CUDA graph that is replayed.

A step of a small decoder is some hundred short kernels, and to launch them takes longer than to run them. A graph is
launched once. Its tensors stay where they are, so rows that are dropped need another graph.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from rlsum.models.execution import execution
from rlsum.models.pointer_generator.encoder import Encoded, State
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns
from rlsum.models.pointer_generator.network import Network
from rlsum.models.sampling import NextWords

EAGER = 2  # steps before a graph is recorded: they make what is made once, and many rollouts are over by then
TOLERANCE = 1e-2  # relative: kernels may add up in another order, in half precision, too


class Steps:
    """The steps of a decoder over R rows, one after the other."""

    def __init__(self, model: Network, encoded: Encoded) -> None:
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
            p, words = self._graph.replay(previous), self._graph.words
        else:
            p, words, self._state = self._model.advance(self._encoded, self._state, previous, self._columns)
        return self._model.next_words(p, words)

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
            replayed = graph.replay(previous)
            torch.testing.assert_close(replayed, expected, rtol=TOLERANCE, atol=TOLERANCE**2)
            graph.reset(self._state)
        except (RuntimeError, AssertionError) as error:
            warnings.warn(f"decoding without a CUDA graph, which is slower: {error}", stacklevel=2)
            self._graphs = False
        else:
            self._graph = graph


class Graph:
    """One step as a CUDA graph, from the state that the last replay left, which is ``state``; ``words``: its output."""

    def __init__(self, model: Network, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns) -> None:
        self.state, self._previous = State(*(part.clone() for part in state)), previous.clone()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._p, self.words, after = model.advance(encoded, self.state, self._previous, columns)
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
