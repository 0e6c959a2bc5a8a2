"""From texts to unit vectors whose products are cosines: encoder, special tokens, centering and weights.

Centering moves the vectors ``(L, D)`` of a text to a common origin before cosines (Chen et al. 2020, section 4).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from rewards.embedding import corpus_statistics as statistics
from rewards.embedding.similarity import Points
from rewards.encoding.encoder import EncodedTexts, KeptTokens
from rewards.encoding.loading import EncoderSource
from rewards.errors import RewardError
from rewards.scoring import library

if TYPE_CHECKING:
    from torch import Tensor

Centering = Literal["none", "dimension", "sentence", "batch", "corpus"]

CHUNK = 256  # items prepared at once: bounds memory
OFFICIAL_BATCH = 32  # pairs that share one mean per side in the official code
NOISE = 1e-5  # of a vector's length


class Space:
    """Some tokens of each text, centred, of unit length, weighted evenly or by IDF.

    Files are checked at once; the encoder loads at first use. ``group``: how many items are prepared together.
    """

    def __init__(
        self,
        source: EncoderSource,
        centering: Centering,
        special: KeptTokens,
        corpus: str | None = None,
        idf: str | None = None,
    ) -> None:
        self.source, self.idf = source, idf
        self.counted: statistics.Idf | None = None
        self.group = OFFICIAL_BATCH if centering == "batch" else CHUNK
        self.centering, self.special, self.corpus = centering, special, corpus
        self.fitted: statistics.CorpusMean | None = None
        if idf not in (None, statistics.PER_CALL):
            statistics.check_file("idf", str(idf), "texts, one a line (.gz too), or references")
        if corpus is not None and centering != "corpus":
            raise RewardError(f"corpus={corpus!r}: needs centering=corpus, not centering={centering}; leave it out")
        if corpus is not None:
            statistics.check_file("corpus", corpus, "texts, one a line (.gz too), or a saved mean (.npz)")

    def encode(self, texts: Sequence[str]) -> dict[str, EncodedTexts]:
        """Token vectors of all texts, each text once."""
        return dict(zip(texts, self.source.load()(texts), strict=True))

    def unscorable(self, encoded: EncodedTexts) -> str | None:
        """Why a text cannot be scored, or None."""
        if encoded.words == 1 and self.centering == "sentence":
            return "has one token, which sentence centering turns into zero"
        return None if encoded.words else "has no token for this encoder"

    def for_call(self, references: Sequence[str]) -> Self:
        """The space for one call: itself, or with ``idf=references`` a copy that has counted them."""
        if self.idf != statistics.PER_CALL:
            return self
        counted = copy.copy(self)
        counted.counted = statistics.Idf.of(references, self.source.load())
        return counted

    def sides(
        self, candidates: Sequence[str], references: Sequence[str], encoded: Mapping[str, EncodedTexts]
    ) -> tuple[dict[str, Points], dict[str, Points]]:
        """Points of the texts that can be scored; each side has its own batch mean."""
        return self._points(candidates, encoded), self._points(references, encoded)

    def fields(self) -> dict[str, object]:
        """Vectors, centering and weights, for the signature."""
        encoder = self.source.load()
        centering = f"corpus-{self._mean().texts}" if self.centering == "corpus" else self.centering
        fields: dict[str, object] = {"encoder": encoder.name, "layer": encoder.layers, "special_tokens": self.special}
        fields |= {**encoder.reading, "centering": centering}
        if self.idf is not None:
            fields["idf"] = self.idf if self.idf == statistics.PER_CALL else self._idf(self.idf).texts
        return {**fields, "library": library("transformers")}

    def fit(self, texts: Sequence[str]) -> None:
        """Fit ``centering=corpus``. Raises RewardError where centering is another, or the texts have no token."""
        if self.centering != "corpus":
            raise RewardError(f"fit needs centering=corpus, not centering={self.centering}")
        self.fitted = self._fit_mean(texts)

    def save_mean(self, path: str | Path) -> None:
        """Write the fitted mean as ``.npz`` for ``corpus=``."""
        self._mean().save(path)

    def _points(self, texts: Sequence[str], encoded: Mapping[str, EncodedTexts]) -> dict[str, Points]:
        # A list, not a set: in the official code a repeated text of the batch counts twice in its mean.
        usable = [text for text in texts if self.unscorable(encoded[text]) is None]
        if not usable:
            return {}
        import torch

        weights = [self._weights(encoded[text]) for text in usable]
        lengths = list(map(len, weights))  # all texts in one operation: a GPU waits for the start of many
        vectors = unit(self._centred(torch.cat([self._vectors(encoded[text]) for text in usable]), lengths))
        shares = torch.tensor(list(chain.from_iterable(weights)), dtype=vectors.dtype, device=vectors.device)
        rows = zip(vectors.split(lengths), shares.split(lengths), strict=True)
        return dict(zip(usable, starmap(Points, rows), strict=True))

    def _centred(self, vectors: Tensor, lengths: list[int]) -> Tensor:
        import torch

        if self.centering == "none":
            return vectors
        if self.centering == "dimension":
            mean = vectors.mean(dim=1, keepdim=True)
        elif self.centering == "sentence":
            mean = torch.cat([rows.mean(dim=0, keepdim=True).expand_as(rows) for rows in vectors.split(lengths)])
        elif self.centering == "batch":
            mean = token_mean([vectors])
        else:
            mean = torch.tensor(self._mean().mean, dtype=vectors.dtype, device=vectors.device)
        return without_noise(vectors - mean, vectors)

    def _vectors(self, encoded: EncodedTexts) -> Tensor:
        return encoded.vectors[encoded.kept(self.special)].double()

    def _weights(self, encoded: EncodedTexts) -> list[float]:
        """The share of each kept token, even or by IDF; special tokens that are only ``matched`` have none."""
        tokens = encoded.kept(self.special)
        ids = encoded.ids[tokens]
        weights = [1.0] * len(ids) if self.idf is None else self._idf(self.idf).weights(ids)
        if self.special != "matched":
            return statistics.shares(weights)
        words = statistics.shares(weights[encoded.before : len(weights) - encoded.after])
        return [0.0] * encoded.before + words + [0.0] * encoded.after

    def _idf(self, file: str) -> statistics.Idf:
        if self.counted is None:
            self.counted = statistics.Idf.of(statistics.read_texts(file), self.source.load())
        return self.counted

    def _mean(self) -> statistics.CorpusMean:
        if self.fitted is None:
            if self.corpus is None:
                raise RewardError("centering=corpus: no corpus mean yet; give corpus=FILE, or call fit(texts) first")
            if not self.corpus.endswith(".npz"):
                self.fitted = self._fit_mean(statistics.read_texts(self.corpus))
                return self.fitted
            saved, current = statistics.CorpusMean.load(self.corpus), self._belongs_to()
            if (origin := (saved.encoder, saved.layer, saved.special)) != current:
                fitted, present = ("{}, layer {}, special tokens {}".format(*names) for names in (origin, current))
                raise RewardError(f"corpus={self.corpus!r}: fitted on {fitted}, not on {present}; fit it again")
            self.fitted = saved
        return self.fitted

    def _fit_mean(self, texts: Sequence[str]) -> statistics.CorpusMean:
        means, counts = [], []
        for start in range(0, len(texts), CHUNK):
            encoded = self.encode(texts[start : start + CHUNK])
            usable = [text for text in texts[start : start + CHUNK] if self.unscorable(encoded[text]) is None]
            if usable:
                vectors = [self._vectors(encoded[text]) for text in usable]
                means.append(token_mean(vectors).cpu().numpy())
                counts.append(sum(len(rows) for rows in vectors))
        if not means:
            raise RewardError(f"corpus={self.corpus!r}: its texts have no token; give texts with words")
        mean = np.average(means, axis=0, weights=counts).tolist()
        return statistics.CorpusMean(mean, statistics.digest(texts), *self._belongs_to())

    def _belongs_to(self) -> tuple[str, str, str]:
        encoder = self.source.load()
        return encoder.name, str(encoder.layers), "all" if self.special == "matched" else self.special


def token_mean(texts: Sequence[Tensor]) -> Tensor:
    """The mean ``(D,)`` over all tokens of all texts, each token counting once; at least one token is needed."""
    total: Tensor = sum((vectors.sum(dim=0) for vectors in texts[1:]), start=texts[0].sum(dim=0))
    return total / sum(map(len, texts))


def without_noise(centred: Tensor, vectors: Tensor) -> Tensor:
    """``centred`` with zeros for ``vectors`` of which only rounding is left: at unit length, a random direction."""
    significant = centred.norm(dim=1, keepdim=True) > NOISE * vectors.norm(dim=1, keepdim=True)
    return centred * significant


def unit(vectors: Tensor) -> Tensor:
    """Scale each vector to length 1, after centering; a zero vector stays zero."""
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1e-12)
