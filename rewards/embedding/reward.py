"""A metric of the family as a reward: a space (texts -> points), a measure (points -> a number) and a rescaling."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rewards.embedding.batches import compared, equal
from rewards.embedding.similarity import Measure, Points, options
from rewards.embedding.space import CHUNK, Space
from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import shown
from rewards.scoring import HEADED, Inputs, ReferenceReward, references_of, signature

if TYPE_CHECKING:
    from torch import Tensor

DIRECTIONS = ("precision", "recall", "f1")
UNDIRECTED = "score"  # the direction of a metric that has none
NOT_THE_METRIC = ("direction", "library", "solver")
VANISHED = 1e-12  # a smaller self-score: only rounding is left of the text


# ``EmbeddingReward.metric``, layer and direction -> the rescaling baseline. Raises RewardError where there is none.
Rescaling = Callable[[str, str, str], float]


class EmbeddingReward(ReferenceReward):
    """The best similarity of a candidate with its references; see ``rewards.embedding.metrics`` for the metrics."""

    def __init__(self, name: str, space: Space, measure: Measure, rescaling: Rescaling | None = None) -> None:
        self.name = name
        self.space = space
        self.measure = measure
        self.rescaling = rescaling

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64; NaN where no reference has a token. A candidate without one gets the floor.

        The floor is -1; 0 for cka.

        With batch centering each run of 32 items shares its means, and with ``idf=references`` the whole call its
        weights, so a score depends on its neighbours; otherwise never. Raises RewardError as ``Reward`` says, and
        where ``rescale`` has no baseline for this metric.
        """
        import torch

        candidates, references = inputs.candidates, references_of(self.name, inputs)
        space = self.space.for_call([text for texts in references for text in texts])
        scores: list[Tensor] = []
        with torch.inference_mode():
            for start in range(0, len(candidates), CHUNK):
                rows = range(start, min(start + CHUNK, len(candidates)))
                encoded = space.encode([text for row in rows for text in (candidates[row], *references[row])])
                for first in rows[:: space.group]:
                    group = slice(first, min(first + space.group, rows.stop))
                    scores += self.group_scores(space, candidates[group], references[group], encoded)
            raw = torch.stack(scores).cpu().numpy() if scores else np.zeros(0)  # one copy from the device
        return raw if self.rescaling is None else rescaled(raw, self._baseline(self.rescaling))

    @property
    def heading(self) -> str:
        """`bertscore F1 minilm`: direction, encoder, and centering if there is any."""
        direction = HEADED.get(str(options(self.measure).get("direction")), "")
        centering, encoder = self.space.centering, shown(self.space.source.location)
        words = (self.name, direction, encoder, "" if centering == "none" else f"{centering}-centred")
        return " ".join(word for word in words if word)

    @property
    def signature(self) -> str:
        """Hash of the encoder's weights and tokenizer, layers, centering, all options, and the baseline if any."""
        fields = {**self.space.fields(), **options(self.measure)}
        if self.rescaling is not None:
            fields["rescale"] = repr(self._baseline(self.rescaling))
        return signature(self.name, **fields)

    @property
    def metric(self) -> str:
        """The signature without direction, rescaling and library, by which a rescaling baseline is found."""
        fields: dict[str, Any] = {**self.space.fields(), **options(self.measure)}
        return signature(self.name, **{key: fields[key] for key in fields if key not in NOT_THE_METRIC})

    @property
    def directions(self) -> tuple[str, ...]:
        """``precision``, ``recall`` and ``f1``, or ``score`` alone for a metric without direction."""
        return DIRECTIONS if "direction" in options(self.measure) else (UNDIRECTED,)

    def raw(self, direction: str) -> EmbeddingReward:
        """The same metric in one of its ``directions``, not rescaled."""
        chosen = {} if direction == UNDIRECTED else {"direction": direction}
        reward = copy.copy(self)
        reward.measure, reward.rescaling, reward.written = replace(self.measure, **chosen), None, None
        return reward

    def fit(self, texts: Sequence[str]) -> EmbeddingReward:
        """Fit ``centering=corpus``; returns itself. Raises RewardError where centering is another."""
        self.space.fit(texts)
        return self

    def self_scores(self, points: Mapping[str, Points]) -> dict[str, Tensor]:
        """The self-score of each text, 1 without normalisation; no text of which centering left nothing."""
        import torch

        if not points:
            return {}
        if self.measure.normalize == "none":
            scores = torch.stack([side.vectors.any().double() for side in points.values()])
        else:
            measure = self.measure if UNDIRECTED in self.directions else self.raw("precision").measure  # S is symmetric
            scores = compared(measure, [(side, side) for side in points.values()])
        defined = (scores > VANISHED).tolist()
        return {text: score for text, score, usable in zip(points, scores, defined, strict=True) if usable}

    def group_scores(
        self,
        space: Space,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        encoded: Mapping[str, EncodedTexts],
    ) -> list[Tensor]:
        """Scores of items that share one centering, float64 scalars, with gradient if the vectors have one."""
        import torch

        flat = [text for texts in references for text in texts]
        first, second = space.sides(candidates, flat, encoded)
        own_first, own_second = self.self_scores(first), self.self_scores(second)

        usable = [[text for text in texts if text in own_second] for texts in references]
        rows = [texts if candidate in own_first else [] for candidate, texts in zip(candidates, usable, strict=True)]
        pairs = [(candidate, text) for candidate, texts in zip(candidates, rows, strict=True) for text in texts]
        vectors = [(first[candidate], second[text]) for candidate, text in pairs]
        like = next(iter(encoded.values())).vectors
        undefined, floor = torch.tensor([np.nan, self.measure.floor], dtype=torch.float64, device=like.device)
        scored = like.new_zeros(0, dtype=torch.float64)
        if pairs:
            self_products = torch.stack([own_first[candidate] * own_second[text] for candidate, text in pairs])
            scored = compared(self.measure, vectors) / self_products.sqrt()
        if pairs and self.measure.normalize == "self":
            scored = scored.masked_fill(equal(vectors), 1.0)  # C / sqrt(C C), without rounding; its gradient is 0
        if self.measure.bounded:
            scored = scored.clamp(max=1.0)
        best = [scores.max() if len(scores) else None for scores in scored.split(list(map(len, rows)))]
        missing = [floor if texts else undefined for texts in usable]
        return [none if score is None else score for score, none in zip(best, missing, strict=True)]

    def _unscorable(self, text: str) -> str | None:
        import torch

        encoded = self.space.encode([text])
        reason = self.space.unscorable(encoded[text])
        if reason is None:
            space = self.space.for_call([text])
            with torch.inference_mode():
                points = space.sides([], [text], encoded)[1]
                reason = None if self.self_scores(points) else "vanishes when it is centred"
        return reason

    def _baseline(self, rescaling: Rescaling) -> float:
        direction = str(options(self.measure).get("direction", UNDIRECTED))
        return rescaling(self.metric, str(self.space.source.load().layers), direction)


def rescaled(scores: NDArray[np.float64], baseline: float) -> NDArray[np.float64]:
    """``(x - b) / (1 - b)``: 1 stays 1, the baseline becomes 0, NaN stays NaN; orders and correlations stay."""
    return (scores - baseline) / (1.0 - baseline)
