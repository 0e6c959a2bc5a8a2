"""Decoder steps without gradient; on a GPU they are one graph (``rlsum.models.graphs``)."""

from __future__ import annotations

from torch import Tensor

from rlsum.models.execution import execution
from rlsum.models.graphs import EAGER, Graph, check_equal, recorded
from rlsum.models.pointer_generator.distribution import WordDistribution
from rlsum.models.pointer_generator.encoder import Encoded, State
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns
from rlsum.models.pointer_generator.network import Network
from rlsum.models.sampling import NextWords


class Steps:
    """The steps of a decoder over R rows, one after the other."""

    def __init__(self, model: Network, encoded: Encoded) -> None:
        self._model, self._encoded = model, encoded
        self._state, self._columns = model.start(encoded), model.word_columns()
        self._graphs = execution(encoded.mask.device).graphs
        self._graph: StepGraph | None = None
        self._taken = 0

    def next(self, previous: Tensor) -> NextWords:
        """The next words after ``previous`` (R,). They are overwritten by the next step."""
        if self._graph is None and self._graphs and self._taken >= EAGER:
            self._graph = recorded(lambda: self._record(previous))
            self._graphs = self._graph is not None
        self._taken += 1
        if self._graph is not None:
            p, words = self._graph.replay(previous)
        else:
            p, words, self._state = self._model.advance(self._encoded, self._state, previous, self._columns)
        return self._model.next_words(p, words)

    def select(self, rows: Tensor) -> None:
        """Go on with some rows, by position."""
        state = self._state if self._graph is None else self._graph.state
        self._encoded, self._state, self._graph = self._encoded.select(rows), state.select(rows), None
        self._taken = 0

    def _record(self, previous: Tensor) -> StepGraph:
        graph = StepGraph(self._model, self._encoded, self._state, previous, self._columns)
        expected, _, _ = self._model.advance(self._encoded, self._state, previous, self._columns)
        check_equal(graph.replay(previous)[0], expected)
        graph.reset(self._state)
        return graph


class StepGraph(Graph[tuple[Tensor, WordDistribution]]):
    """One step from the state that the last replay left, which is ``state``: p (R, V'), and what it is made of."""

    def __init__(self, model: Network, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns) -> None:
        self.state = State(*(values.clone() for values in state))

        def step(word: Tensor) -> tuple[Tensor, WordDistribution]:
            p, words, after = model.advance(encoded, self.state, word, columns)
            self.reset(after)
            return p, words

        super().__init__(step, previous)

    def reset(self, state: State) -> None:
        """Go on from another state."""
        for values, new in zip(self.state, state, strict=True):
            values.copy_(new)
