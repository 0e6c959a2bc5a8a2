"""Similarities of contextual word vectors (Chen, Ding, Levinboim and Soricut 2020): TWMD.

A metric here is a ``Space`` (encoder, layer, special tokens, centering: texts -> unit vectors) and a pure function of
``rewards.similarity``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rewards import similarity
from rewards.centering import Centering
from rewards.encoder import Device, SpecialTokens
from rewards.errors import RewardError
from rewards.scoring import checked_references, score_items, signature, undefined_reason
from rewards.similarity import Direction
from rewards.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

FLOOR = -1.0  # the least cosine
TEMPERATURE = {"none": 0.02, "dimension": 0.02, "sentence": 0.02, "batch": 0.10, "corpus": 0.10}


@dataclass(frozen=True, eq=False)
class _Side:
    """One text ready to be compared: unit vectors ``(L, D)`` float64 and its self-score."""

    points: Tensor
    own: float


class TWMD:
    """Tempered word mover's distance of contextual vectors, as a similarity; 1 for equal texts. Needs an encoder.

    ``encoder``: ``minilm``, a local directory or a hub name. ``layer``: 0 is the embeddings; by default 10 of 12, 19 of
    24, else the one at 5/6 of the depth. ``temperature``: .02, or .10 with batch or corpus centering. ``corpus``: a
    text file (a text a line) or a saved mean, for ``centering=corpus``.
    """

    name = "twmd"

    def __init__(
        self,
        encoder: str = "minilm",
        layer: int | None = None,
        centering: Centering = "none",
        temperature: float | None = None,
        direction: Direction = "f1",
        iterations: int = 1,
        special_tokens: SpecialTokens = "official",
        corpus: str | None = None,
        device: Device = "auto",
    ) -> None:
        self.temperature = TEMPERATURE[centering] if temperature is None else temperature
        self.direction = direction
        self.iterations = iterations
        if self.temperature <= 0:
            raise RewardError(f"twmd: temperature={temperature} must be above 0")
        if iterations < 1:
            raise RewardError(f"twmd: iterations={iterations} must be at least 1")
        self.space = Space(encoder, layer, centering, special_tokens, corpus, device)

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> NDArray[np.float64]:
        """``(n,)`` float64, the best of a candidate's references; around 1 at most, but not bounded by it.

        -1 for a candidate without a token; NaN where no reference has one (under sentence centering: at least two).
        With batch centering each run of 32 items shares its means, so a score depends on its neighbours.
        """
        references = checked_references(self.name, candidates, references, sources)
        scores = [
            self._group(candidates[start : start + self.space.group], references[start : start + self.space.group])
            for start in range(0, len(candidates), self.space.group)
        ]
        return np.concatenate(scores) if scores else np.empty(0)

    @property
    def signature(self) -> str:
        """Hash of the encoder's weights and tokenizer, layer, centering and all options."""
        options = {"temperature": self.temperature, "iterations": self.iterations, "direction": self.direction}
        return signature(self.name, **self.space.fields(), **options)

    def undefined(self, candidate: str, references: Sequence[str] | None = None) -> str | None:
        """Why the score is NaN: no reference has tokens enough."""
        return undefined_reason(references, self.space.nothing)

    def fit(self, texts: Sequence[str]) -> TWMD:
        """Set the mean of ``centering=corpus`` from texts; the signature carries their hash. Returns itself."""
        self.space.fit(texts)
        return self

    def _group(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Scores of items that share one centering."""
        flat = [text for texts in references for text in texts]
        first, second = (
            {text: self._side(points) for text, points in centred.items()}
            for centred in self.space.centred(candidates, flat)
        )

        def best(candidate: str, texts: list[str]) -> float:
            return max(self._score(first[candidate], second[text]) for text in texts)

        return score_items(candidates, references, self.space.nothing, best, FLOOR)

    def _side(self, points: Tensor) -> _Side:
        return _Side(points, float(similarity.twmd_self(points @ points.T, self.temperature, self.iterations)))

    def _score(self, first: _Side, second: _Side) -> float:
        cosines = first.points @ second.points.T
        raw = float(similarity.twmd(cosines, self.direction, self.temperature, self.iterations))
        own = first.own * second.own
        return raw / math.sqrt(own) if own > 0 else FLOOR
