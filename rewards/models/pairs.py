"""What rewards that are models share: the two texts that they read, each pair once, and the best of several."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rewards.encoding.loading import shown
from rewards.errors import RewardError
from rewards.models.loading import Head, LoadedModel, ModelSource
from rewards.scoring import BaseReward, Inputs, Item, references_of

Given = Literal["source", "reference"]


class Pair(NamedTuple):
    """A candidate and the text that it is read with."""

    given: str
    candidate: str


class Matrix(NamedTuple):
    """An explanation of a pair: ``values`` (m, n) of m parts of the candidate with n others, and what they are."""

    candidate: Sequence[str]
    others: Sequence[str]
    values: NDArray[np.float64]
    measured: str


class PairReward(BaseReward):
    """A reward of pairs of texts. ``given``: whether a candidate is read with its article or with its references.

    ``floor``: the score of an empty candidate; None: it has none, and is undefined.
    """

    given: Given

    @property
    @abstractmethod
    def floor(self) -> float | None:
        """See the class; may load the model."""

    @abstractmethod
    def pair_scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """A score for each pair of distinct texts that are not empty, NaN where undefined."""

    @abstractmethod
    def matrix(self, pair: Pair) -> Matrix:
        """Why a pair has its score, for ``rewards.explain``."""

    def pair_reason(self, pair: Pair) -> str | None:
        """Why a pair has no score, to follow "item 3 is undefined: "; None, as here, where it has one."""
        return None

    def is_empty(self, candidate: str) -> bool:
        """Whether there is nothing to score in it."""
        return not candidate.strip()

    def best(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64: the highest score of a candidate with any of its texts; the floor for an empty one."""
        if self.given == "source" and inputs.sources is None:
            fix = "give sources=[...], an article a candidate, or given=reference"
            raise RewardError(f"{self.name} reads the article (given=source); {fix}")
        if self.given == "reference":
            references_of(self.name, inputs)
        rows = [self._pairs(inputs.item(row)) for row in range(len(inputs.candidates))]
        empty = {text for text in set(inputs.candidates) if self.is_empty(text)}
        distinct = list(dict.fromkeys(pair for pair in chain.from_iterable(rows) if pair.candidate not in empty))
        scored = dict(zip(distinct, self.pair_scores(distinct), strict=True)) if distinct else {}
        scores = np.full(len(rows), np.nan)
        for row, pairs in enumerate(rows):
            if pairs and pairs[0].candidate in empty:
                scores[row] = np.nan if self.floor is None else self.floor
            elif defined := [scored[pair] for pair in pairs if scored[pair] == scored[pair]]:
                scores[row] = max(defined)
        return scores

    def reason(self, item: Item) -> str | None:
        """It has nothing to be read with, it is empty and there is no floor, or the reason of its first text."""
        pairs = self._pairs(item)
        if not pairs:
            has = item.source is not None if self.given == "source" else bool(item.references)
            return f"its {self.given} is empty" if has else f"it has no {self.given}"
        if self.is_empty(item.candidate):
            return "it is empty, and the reward has no floor; give floor=" if self.floor is None else None
        reasons = [self.pair_reason(pair) for pair in pairs]
        return None if None in reasons else reasons[0]

    def _pairs(self, item: Item) -> list[Pair]:
        texts = [item.source or ""] if self.given == "source" else item.references or ()
        return [Pair(text, item.candidate) for text in texts if text.strip()]


class ModelReward(PairReward):
    """A reward that loads a model; ``head``: what the model computes, ``options``: its ``ModelOptions`` and its own."""

    head: ClassVar[Head]
    options: Any

    def __init__(self, options: Any) -> None:
        self.options, self.given = options, options.given
        self.model: ModelSource = options.source(self.head)

    def is_empty(self, candidate: str, loaded: LoadedModel | None = None) -> bool:
        """Whether it has no token of the model, as white space and what the tokenizer removes."""
        return not (loaded or self.model.load()).ids([candidate.strip()], special=False)[0]

    @property
    def heading(self) -> str:
        """`entailment roberta-large-mnli`: the model."""
        return f"{self.name} {shown(self.model.location)}"
