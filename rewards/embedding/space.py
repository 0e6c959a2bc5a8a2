"""Encoder, special tokens, centering and weights, bound together: texts -> unit vectors whose products are cosines."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rewards.embedding.centering import (
    OFFICIAL_BATCH,
    Centering,
    by_dimension,
    by_sentence,
    token_mean,
    unit,
    without_noise,
)
from rewards.embedding.corpus_mean import CorpusMean, check_file, digest, load, read_texts, save
from rewards.embedding.idf import FITTED, IdfOption, shares
from rewards.embedding.measures import Points
from rewards.encoding.encoder import Encoded, Kept, Source
from rewards.errors import RewardError
from rewards.scoring import library

if TYPE_CHECKING:
    from torch import Tensor

CHUNK = 256  # items prepared at once: bounds memory


class Space:
    """Where contextual metrics compare texts. Cheap to make: files are checked, the encoder loads at first use."""

    def __init__(
        self, source: Source, centering: Centering, special: Kept, corpus: str | None = None, idf: str | None = None
    ) -> None:
        self.source, self.centering, self.special, self.corpus = source, centering, special, corpus
        self.idf = IdfOption(idf)
        self.fitted: CorpusMean | None = None
        self.group = OFFICIAL_BATCH if centering == "batch" else CHUNK
        if corpus is not None and centering != "corpus":
            raise RewardError(f"corpus={corpus!r} goes with centering=corpus, not centering={centering}")
        if corpus is not None:
            check_file("corpus", corpus, "texts, one a line (.gz too), or a saved mean (.npz)")

    def encode(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """Token vectors of all texts: one sort by length, each text once."""
        return dict(zip(texts, self.source.load()(texts), strict=True))

    def sides(
        self, candidates: Sequence[str], references: Sequence[str], encoded: Mapping[str, Encoded]
    ) -> tuple[dict[str, Points], dict[str, Points]]:
        """The points of those texts of both sides that can be scored; each side has its own batch mean."""
        return self._points(candidates, encoded), self._points(references, encoded)

    def nothing(self, text: str, encoded: Encoded) -> str | None:
        """Why a text cannot be scored, or None."""
        if encoded.words == 0:
            return "has no token for this encoder" if text.strip() else "is empty"
        if encoded.words == 1 and self.centering == "sentence":
            return "has one token, which sentence centering turns into zero"
        return None

    def for_call(self, candidates: Sequence[str], references: Sequence[str]) -> Space:
        """Itself, or with ``idf=references`` a copy that has counted them."""
        if not self.idf.per_call:
            return self
        counted = copy.copy(self)
        counted.idf = copy.copy(self.idf)
        counted.idf.fit(references, self.source.load())
        return counted

    def fields(self) -> dict[str, object]:
        """What the signature says of vectors, centering and weights."""
        encoder = self.source.load()
        centering = f"corpus-{self._mean().texts}" if self.centering == "corpus" else self.centering
        fields: dict[str, object] = {"encoder": encoder.name, "layer": encoder.layers, "special_tokens": self.special}
        fields |= {"window": encoder.windows, "centering": centering}
        if self.idf.option is not None:
            fields["idf"] = self.idf.field(encoder)
        return {**fields, "library": library("transformers")}

    def fit(self, texts: Sequence[str]) -> None:
        """Learn from texts what the options leave open: the mean of ``centering=corpus``, the counts of ``idf=fitted``.

        Raises RewardError where nothing is open, or where the texts hold no token.
        """
        if self.centering != "corpus" and self.idf.option != FITTED:
            raise RewardError(
                f"fit is for centering=corpus and idf=fitted; here centering={self.centering} and idf={self.idf.option}"
            )
        if self.centering == "corpus":
            self.fitted = self._fit_mean(texts)
        if self.idf.option == FITTED:
            self.idf.fit(texts, self.source.load())

    def save_mean(self, path: str | Path) -> None:
        """Write the fitted mean as ``.npz``, to be given as ``corpus=``."""
        save(path, self._mean())

    def save_idf(self, path: str | Path) -> None:
        """Write the fitted frequencies as ``.npz``, to be given as ``idf=``."""
        self.idf.save(path, self.source.load())

    def _points(self, texts: Sequence[str], encoded: Mapping[str, Encoded]) -> dict[str, Points]:
        # A list, not a set: in the official code a text that stands twice in the batch counts twice in its mean.
        usable = [text for text in texts if self.nothing(text, encoded[text]) is None]
        if not usable:
            return {}
        vectors = self._centred([self._vectors(encoded[text]) for text in usable])
        return {
            text: Points(unit(rows), rows.new_tensor(self._weights(encoded[text])))
            for text, rows in zip(usable, vectors, strict=True)
        }

    def _centred(self, vectors: list[Tensor]) -> list[Tensor]:
        """The vectors of one side of a group, moved as ``centering`` says."""
        if self.centering == "none":
            return vectors
        if self.centering == "dimension":
            moved = [by_dimension(rows) for rows in vectors]
        elif self.centering == "sentence":
            moved = [by_sentence(rows) for rows in vectors]
        else:
            mean = token_mean(vectors) if self.centering == "batch" else vectors[0].new_tensor(self._mean().mean)
            moved = [rows - mean for rows in vectors]
        return [without_noise(after, before) for after, before in zip(moved, vectors, strict=True)]

    def _vectors(self, encoded: Encoded) -> Tensor:
        return encoded.vectors[encoded.kept(self.special)].double()

    def _weights(self, encoded: Encoded) -> list[float]:
        """The share of each kept token: even or by IDF; special tokens that are only ``matched`` have none."""
        kept = encoded.kept(self.special)
        idf = self.idf.get(self.source.load())
        weights = idf.weights(encoded.ids[kept]) if idf else [1.0] * len(encoded.ids[kept])
        if self.special != "matched":
            return shares(weights)
        words = shares(weights[encoded.before : len(weights) - encoded.after])
        return [0.0] * encoded.before + words + [0.0] * encoded.after

    def _mean(self) -> CorpusMean:
        if self.fitted is None:
            if self.corpus is None:
                raise RewardError("centering=corpus needs its mean: give corpus=FILE, or call fit(texts) first")
            if self.corpus.endswith(".npz"):
                self.fitted = self._checked(load(self.corpus, CorpusMean))
            else:
                self.fitted = self._fit_mean(read_texts(self.corpus))
        return self.fitted

    def _fit_mean(self, texts: Sequence[str]) -> CorpusMean:
        means, counts = [], []
        for start in range(0, len(texts), CHUNK):
            encoded = self.encode(texts[start : start + CHUNK])
            usable = [text for text in texts[start : start + CHUNK] if self.nothing(text, encoded[text]) is None]
            if usable:
                vectors = [self._vectors(encoded[text]) for text in usable]
                means.append(token_mean(vectors).numpy())
                counts.append(sum(len(rows) for rows in vectors))
        if not counts:
            raise RewardError(f"corpus={self.corpus!r}: its texts hold no token; a mean needs some")
        mean = np.average(means, axis=0, weights=counts).tolist()
        return CorpusMean(mean, digest(texts), *self._belongs_to())

    def _belongs_to(self) -> tuple[str, str, str]:
        encoder = self.source.load()
        return encoder.name, str(encoder.layers), "all" if self.special == "matched" else self.special

    def _checked(self, mean: CorpusMean) -> CorpusMean:
        if mean.belongs_to != self._belongs_to():
            found = f"{mean.encoder}, layer {mean.layer}, special tokens {mean.special}"
            here = self._belongs_to()
            raise RewardError(f"corpus={self.corpus!r} was fitted on {found}; here they are {here}; fit it again")
        return mean
