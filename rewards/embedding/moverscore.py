"""MoverScore as the two versions of Zhao et al.'s code compute it (2019), for comparison with the literature.

Both weigh tokens by IDF (evenly without ``idf``), leave out word pieces that continue a word, punctuation and stop
words, and keep the special tokens. Ours are exact where theirs round: equal texts score 1 and masses sum to 1.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from rewards.embedding.corpus_statistics import FITTED, IdfOption, shares
from rewards.embedding.similarity import Points, SelfNormalization
from rewards.embedding.space import PointSpace, unit
from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import EncoderSource
from rewards.errors import RewardError
from rewards.scoring import library
from rewards.text.languages import Code, language_of
from rewards.text.sentences import StopWords, check_stop_words, stop_words
from rewards.transport import distances, exact_cost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

CONTINUES = "##"  # how WordPiece marks a piece inside a word
PUNCTUATION = frozenset(string.punctuation)


class ZhaoSpace(PointSpace):
    """The space of v1 and v2: kept tokens, or windows of ``n_gram`` of them weighted by their sum (v1)."""

    def __init__(
        self,
        source: EncoderSource,
        idf: str | None,
        stopwords: StopWords,
        n_gram: int | None,
        language: Code | None = None,
    ) -> None:
        super().__init__(source, idf)
        self.stopwords, self.n_gram, self.language = stopwords, n_gram, language
        self.candidate_idf = self.idf  # with idf=references the code counts each side on its own texts
        check_stop_words(stopwords, language_of(language))

    def sides(
        self, candidates: Sequence[str], references: Sequence[str], encoded: Mapping[str, EncodedTexts]
    ) -> tuple[dict[str, Points], dict[str, Points]]:
        """Points of the texts of both sides that have a token; one of punctuation has its special tokens."""
        first, second = (
            {text: self.tokens(encoded[text], idf)[0] for text in texts if encoded[text].words}
            for texts, idf in ((candidates, self.candidate_idf), (references, self.idf))
        )
        return first, second

    def for_call(self, candidates: Sequence[str], references: Sequence[str]) -> Self:
        """The space for one call: itself, or with ``idf=references`` a copy that has counted both sides."""
        space = super().for_call(candidates, references)
        if self.idf.per_call:
            space.candidate_idf = self.idf.fitted_on(candidates, self.source.load())
        return space

    def fields(self) -> dict[str, object]:
        """Vectors and weights, for the signature."""
        encoder = self.source.load()
        fields = {"encoder": encoder.name, "layer": encoder.layers, "window": encoder.windows}
        fields |= {"idf": self.idf.field(encoder), "stopwords": self.stopwords}
        if self.language is not None and self.stopwords != "none":
            fields["language"] = self.language
        if self.n_gram is not None:
            fields["n_gram"] = self.n_gram
        return {**fields, "library": library("transformers")}

    def fit(self, texts: Sequence[str]) -> None:
        """Count the frequencies of ``idf=fitted``. Raises RewardError for another ``idf``."""
        if self.idf.option != FITTED:
            raise RewardError(f"fit needs idf=fitted, not idf={self.idf.option}")
        self.idf.fit(texts, self.source.load())

    def tokens(self, encoded: EncodedTexts, option: IdfOption) -> tuple[Points, tuple[str, ...]]:
        """The tokens or n-grams of a text that have weight, and how they are written."""
        encoder = self.source.load()
        dropped = stop_words(self.stopwords, language_of(self.language))
        pieces = encoder.strings(encoded.ids)
        kept = [
            position
            for position, piece in enumerate(pieces)
            if CONTINUES not in piece and piece not in PUNCTUATION and piece not in dropped
        ]
        idf = option.get(encoder)
        weights = idf.weights([encoded.ids[position] for position in kept]) if idf else [1.0] * len(kept)
        vectors, labels = encoded.vectors[kept].double(), [pieces[position] for position in kept]
        if self.n_gram is not None:
            vectors, weights = grams(vectors, shares(weights), self.n_gram)
            labels = [" ".join(labels[start : start + self.n_gram]) for start in range(len(weights))]
        heavy = [row for row, share in enumerate(shares(weights)) if share > 0]  # the solver needs positive masses
        points = Points(unit(vectors[heavy]), vectors.new_tensor(shares([weights[row] for row in heavy])))
        return points, tuple(labels[row] for row in heavy)


def grams(vectors: Tensor, weights: Sequence[float], n: int) -> tuple[Tensor, list[float]]:
    """Weighted means of windows of ``n`` vectors ``(L, D)``, one if ``L < n``, and the sums of their weights."""
    import torch

    n = min(n, len(weights))
    windows = [slice(start, start + n) for start in range(len(weights) - n + 1)]
    means = [vectors.new_tensor(shares(weights[window])) @ vectors[window] for window in windows]
    return torch.stack(means), [sum(weights[window]) for window in windows]


@dataclass(frozen=True)
class Zhao:
    """Of unit vectors ``1 - EMD`` of squared Euclidean distances (v1), or ``1 / (1 + EMD)`` of distances (v2)."""

    variant: Literal["v1", "v2"]
    normalize: ClassVar[SelfNormalization] = "none"
    bounded: ClassVar[bool] = True

    @property
    def floor(self) -> float:
        """The score of a candidate with nothing to compare."""
        return -3.0 if self.variant == "v1" else 0.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-3, 1] (v1) or [1/3, 1] (v2)."""
        cost = exact_cost(first.weights.numpy(), second.weights.numpy(), self.costs(first, second))
        return first.weights.new_tensor(1.0 - cost if self.variant == "v1" else 1.0 / (1.0 + cost))

    def costs(self, first: Points, second: Points) -> NDArray[np.float64]:
        """Distances ``(m, n)``, squared in v1."""
        costs = distances(first.vectors.numpy(), second.vectors.numpy())
        return costs**2 if self.variant == "v1" else costs
