"""A contextual metric as a reward: a space (texts -> points), a measure (points -> a number) and a rescaling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rewards.embedding.idf import IdfOption
from rewards.embedding.measures import Measure, Points, options
from rewards.embedding.rescaling import Rescale, Wanted, rescaled
from rewards.embedding.space import CHUNK
from rewards.encoding.encoder import Encoded, Source
from rewards.scoring import Inputs, ReferenceReward, references_of, signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIRECTIONS = ("precision", "recall", "f1")
NOT_THE_METRIC = ("direction", "library", "solver")
BOTH_WAYS = "score"  # the direction of a metric that has none
VANISHED = 1e-12  # a self-score below: nothing but rounding is left of the text


class Places(Protocol):
    """What a comparison asks of a space; ``rewards.embedding.space.Space`` is the one of the family."""

    source: Source
    idf: IdfOption
    group: int

    def encode(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """Token vectors of all texts."""

    def sides(
        self, candidates: Sequence[str], references: Sequence[str], encoded: Mapping[str, Encoded]
    ) -> tuple[dict[str, Points], dict[str, Points]]:
        """Points of the texts that can be scored."""

    def nothing(self, text: str, encoded: Encoded) -> str | None:
        """Why a text cannot be scored, or None."""

    def for_call(self, candidates: Sequence[str], references: Sequence[str]) -> Places:
        """The space for one call."""

    def fields(self) -> dict[str, object]:
        """For the signature."""

    def fit(self, texts: Sequence[str]) -> None:
        """Learn what the options leave open."""


@dataclass(frozen=True, eq=False)
class _Side:
    """One text ready to be compared, and its self-score (1 where the measure is not normalised)."""

    points: Points
    own: float


class Comparison(ReferenceReward):
    """Scores a candidate against its references, the best counts; see ``rewards.embedding.factory`` for the metrics."""

    def __init__(self, name: str, space: Places, measure: Measure, rescale: Rescale | None = None) -> None:
        self.name = name
        self.space = space
        self.measure = measure
        self.rescale = rescale

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64. A candidate without a token gets the floor; NaN where no reference has one.

        With batch centering each run of 32 items shares its means, and with ``idf=references`` the whole call its
        weights, so a score depends on its neighbours; otherwise never. Raises RewardError as ``Reward`` says, and
        where ``rescale`` has no baseline for this metric.
        """
        import torch

        candidates, references = inputs.candidates, references_of(self.name, inputs)
        space = self.space.for_call(candidates, [text for texts in references for text in texts])
        scores = np.full(len(candidates), np.nan)
        with torch.inference_mode():
            for start in range(0, len(candidates), CHUNK):
                rows = range(start, min(start + CHUNK, len(candidates)))
                encoded = space.encode([text for row in rows for text in (candidates[row], *references[row])])
                for first in rows[:: space.group]:
                    group = slice(first, min(first + space.group, rows.stop))
                    scores[group] = self._group(space, candidates[group], references[group], encoded)
        return scores if self.rescale is None else rescaled(scores, self._baseline(self.rescale))

    @property
    def signature(self) -> str:
        """Hash of the encoder's weights and tokenizer, layers, centering, all options, and the baseline if any."""
        fields = {**self.space.fields(), **options(self.measure)}
        if self.rescale is not None:
            fields["rescale"] = repr(self._baseline(self.rescale))
        return signature(self.name, **fields)

    @property
    def metric(self) -> str:
        """The signature without direction, rescaling and library: what a baseline is for."""
        fields: dict[str, Any] = {**self.space.fields(), **options(self.measure)}
        return signature(self.name, **{key: fields[key] for key in fields if key not in NOT_THE_METRIC})

    @property
    def directions(self) -> tuple[str, ...]:
        """``precision``, ``recall`` and ``f1``, or ``score`` alone for a metric that has no direction."""
        return DIRECTIONS if "direction" in options(self.measure) else (BOTH_WAYS,)

    def raw(self, direction: str) -> Comparison:
        """The same metric in one of its ``directions``, not rescaled."""
        measure = self.measure if direction == BOTH_WAYS else replace(self.measure, direction=direction)
        return Comparison(self.name, self.space, measure)

    def fit(self, texts: Sequence[str]) -> Comparison:
        """Learn the mean of ``centering=corpus`` and the counts of ``idf=fitted``; the signature carries their hash.

        Returns itself. Raises RewardError where the options leave nothing open.
        """
        self.space.fit(texts)
        return self

    def _group(
        self,
        space: Places,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        encoded: Mapping[str, Encoded],
    ) -> NDArray[np.float64]:
        """Scores of items that share one centering."""
        flat = [text for texts in references for text in texts]
        first, second = (self._scorable(points) for points in space.sides(candidates, flat, encoded))
        scores = np.full(len(candidates), np.nan)
        for row, (candidate, texts) in enumerate(zip(candidates, references, strict=True)):
            usable = [second[text] for text in texts if text in second]
            if usable and candidate in first:
                scores[row] = max(self._score(first[candidate], side) for side in usable)
            elif usable:
                scores[row] = self.measure.floor
        return scores

    def _scorable(self, points: Mapping[str, Points]) -> dict[str, _Side]:
        """Texts with the roots of their self-scores; those of which centering left nothing are not there."""
        if self.measure.normalize == "none":
            return {text: _Side(each, 1.0) for text, each in points.items() if bool(each.vectors.any())}
        measure = self.measure if BOTH_WAYS in self.directions else self.raw("precision").measure  # S is symmetric
        own = {text: float(measure(each, each)) for text, each in points.items()}
        return {text: _Side(points[text], value) for text, value in own.items() if value > VANISHED}

    def _score(self, first: _Side, second: _Side) -> float:
        import torch

        if self.measure.normalize == "self" and torch.equal(first.points.vectors, second.points.vectors):
            return 1.0  # C / sqrt(C C), without rounding
        return float(self.measure(first.points, second.points)) / math.sqrt(first.own * second.own)

    def _unscorable(self, text: str) -> str | None:
        import torch

        encoded = self.space.encode([text])
        reason = self.space.nothing(text, encoded[text])
        if reason is None:
            space = self.space.for_call([text], [text])
            with torch.inference_mode():
                reason = None if self._scorable(space.sides([], [text], encoded)[1]) else "vanishes when it is centred"
        return reason

    def _baseline(self, rescale: Rescale) -> float:
        direction = str(options(self.measure).get("direction", BOTH_WAYS))
        return rescale.value(Wanted(self.metric, str(self.space.source.load().layers), direction))
