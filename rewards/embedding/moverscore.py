"""MoverScore as the two versions of Zhao et al.'s code really compute it (2019), for comparison with the literature.

Both weigh tokens by IDF (evenly without ``idf``), leave out word pieces that continue a word, punctuation and stop
words, and keep the special tokens. Ours are exact where theirs round: equal texts score 1, masses sum to 1.
"""

from __future__ import annotations

import copy
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rewards.embedding.centering import unit
from rewards.embedding.idf import FITTED, IdfOption, shares
from rewards.embedding.measures import Normalize, Points
from rewards.embedding.space import CHUNK
from rewards.encoding.encoder import Encoded, Source
from rewards.errors import RewardError
from rewards.scoring import library
from rewards.text.sentences import StopWords, stop_words
from rewards.transport import distances, exact_cost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

CONTINUES = "##"  # how WordPiece marks a piece inside a word
PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The points of a text, and the tokens or n-grams that they are."""

    points: Points
    labels: tuple[str, ...]


class ZhaoSpace:
    """Where v1 and v2 compare texts: kept tokens, or windows of ``n_gram`` of them weighed by their sum (v1)."""

    group = CHUNK

    def __init__(self, source: Source, idf: str | None, stopwords: StopWords, n_gram: int | None) -> None:
        self.source, self.stopwords, self.n_gram = source, stopwords, n_gram
        self.idf = IdfOption(idf)
        self.candidate_idf = self.idf  # per call the code counts each side on its own texts
        if stopwords == "nltk":
            stop_words(stopwords)  # its data may be missing: say so now

    def encode(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """Token vectors of all texts."""
        return dict(zip(texts, self.source.load()(texts), strict=True))

    def sides(
        self, candidates: Sequence[str], references: Sequence[str], encoded: Mapping[str, Encoded]
    ) -> tuple[dict[str, Points], dict[str, Points]]:
        """The points of those texts of both sides that have a token."""
        return (
            {text: self._points(encoded[text], self.candidate_idf) for text in candidates if encoded[text].words},
            {text: self._points(encoded[text], self.idf) for text in references if encoded[text].words},
        )

    def nothing(self, text: str, encoded: Encoded) -> str | None:
        """Why a text cannot be scored, or None. One of punctuation can: its special tokens have weight."""
        if encoded.words:
            return None
        return "has no token for this encoder" if text.strip() else "is empty"

    def for_call(self, candidates: Sequence[str], references: Sequence[str]) -> ZhaoSpace:
        """Itself, or with ``idf=references`` a copy that has counted both sides."""
        if not self.idf.per_call:
            return self
        counted = copy.copy(self)
        counted.idf, counted.candidate_idf = copy.copy(self.idf), copy.copy(self.idf)
        counted.idf.fit(references, self.source.load())
        counted.candidate_idf.fit(candidates, self.source.load())
        return counted

    def fields(self) -> dict[str, object]:
        """What the signature says of vectors and weights."""
        encoder = self.source.load()
        fields = {"encoder": encoder.name, "layer": encoder.layers, "window": encoder.windows}
        fields |= {"idf": self.idf.field(encoder), "stopwords": self.stopwords}
        if self.n_gram is not None:
            fields["n_gram"] = self.n_gram
        return {**fields, "library": library("transformers")}

    def fit(self, texts: Sequence[str]) -> None:
        """Count the frequencies of ``idf=fitted``."""
        if self.idf.option != FITTED:
            raise RewardError(f"fit is for idf=fitted; here idf={self.idf.option}")
        self.idf.fit(texts, self.source.load())

    def _points(self, encoded: Encoded, option: IdfOption) -> Points:
        return self.tokens(encoded, option).points

    def tokens(self, encoded: Encoded, option: IdfOption) -> Tokens:
        """What of a text has weight."""
        encoder = self.source.load()
        dropped = stop_words(self.stopwords)
        pieces = encoder.strings(encoded.ids)
        kept = [
            place
            for place, piece in enumerate(pieces)
            if CONTINUES not in piece and piece not in PUNCTUATION and piece not in dropped
        ]
        idf = option.get(encoder)
        weights = idf.weights([encoded.ids[place] for place in kept]) if idf else [1.0] * len(kept)
        vectors, labels = encoded.vectors[kept].double(), [pieces[place] for place in kept]
        if self.n_gram is not None:
            vectors, weights = grams(vectors, shares(weights), self.n_gram)
            labels = [" ".join(labels[start : start + self.n_gram]) for start in range(len(weights))]
        heavy = [place for place, share in enumerate(shares(weights)) if share > 0]  # the solver wants positive masses
        points = Points(unit(vectors[heavy]), vectors.new_tensor(shares([weights[place] for place in heavy])))
        return Tokens(points, tuple(labels[place] for place in heavy))


def grams(vectors: Tensor, weights: Sequence[float], n: int) -> tuple[Tensor, list[float]]:
    """Windows of ``n`` consecutive vectors ``(L, D)``: their weighted means, and their summed weights.

    One window over everything where the text is shorter.
    """
    import torch

    n = min(n, len(weights))
    windows = [slice(start, start + n) for start in range(len(weights) - n + 1)]
    means = [vectors.new_tensor(shares(weights[window])) @ vectors[window] for window in windows]
    return torch.stack(means), [sum(weights[window]) for window in windows]


@dataclass(frozen=True)
class ZhaoV1:
    """``1 - EMD`` of squared Euclidean distances between unit vectors."""

    variant: str = "v1"
    normalize: ClassVar[Normalize] = "none"
    floor: ClassVar[float] = -3.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-3, 1]."""
        return first.weights.new_tensor(1.0 - _cost(first, second, self.costs(first, second)))

    def costs(self, first: Points, second: Points) -> NDArray[np.float64]:
        """Squared distances ``(m, n)``."""
        return distances(first.vectors.numpy(), second.vectors.numpy()) ** 2


@dataclass(frozen=True)
class ZhaoV2:
    """``1 / (1 + EMD)`` of Euclidean distances between unit vectors."""

    variant: str = "v2"
    normalize: ClassVar[Normalize] = "none"
    floor: ClassVar[float] = 0.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [1/3, 1]."""
        return first.weights.new_tensor(1.0 / (1.0 + _cost(first, second, self.costs(first, second))))

    def costs(self, first: Points, second: Points) -> NDArray[np.float64]:
        """Distances ``(m, n)``."""
        return distances(first.vectors.numpy(), second.vectors.numpy())


def _cost(first: Points, second: Points, costs: NDArray[np.float64]) -> float:
    return exact_cost(first.weights.numpy(), second.weights.numpy(), costs)
