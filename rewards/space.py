"""Encoder, layer, special tokens and centering, bound together: texts -> unit vectors whose products are cosines."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rewards.centering import OFFICIAL_BATCH, Centering, by_dimension, by_sentence, token_mean, unit
from rewards.encoder import Device, Encoder, SpecialTokens, load_once, locate
from rewards.errors import RewardError
from rewards.scoring import library

if TYPE_CHECKING:
    from torch import Tensor

CHUNK = 256  # items prepared at once where a score does not depend on its neighbours: bounds memory


@dataclass(frozen=True)
class Fitted:
    """A corpus mean ``(D,)`` with the hash of its texts and the vectors it belongs to."""

    mean: list[float]
    texts: str
    encoder: str
    layer: int
    special: str


class Space:
    """Where contextual metrics compare texts. Cheap to make: files are checked, the encoder loads at first use."""

    def __init__(
        self,
        encoder: str,
        layer: int | None,
        centering: Centering,
        special_tokens: SpecialTokens,
        corpus: str | None,
        device: Device,
    ) -> None:
        self.place = locate(encoder)
        self.layer, self.centering, self.device = layer, centering, device
        self.special: SpecialTokens = "first" if special_tokens == "official" else special_tokens
        self.corpus = corpus
        self.fitted: Fitted | None = None
        self.group = OFFICIAL_BATCH if centering == "batch" else CHUNK
        if corpus is not None and centering != "corpus":
            raise RewardError(f"corpus={corpus!r} goes with centering=corpus, not centering={centering}")
        if corpus is not None and not Path(corpus).is_file():
            raise RewardError(
                f"corpus={corpus!r}: no such file; give texts, one a line (.gz too), or a saved mean (.npz)"
            )

    def centred(
        self, candidates: Sequence[str], references: Sequence[str]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Unit vectors ``(L, D)`` float64 of every text of both sides that has something to score."""
        self._encoder()([*candidates, *references])  # all together: one sort by length, each text once
        return self._centred(candidates), self._centred(references)

    def nothing(self, text: str) -> str | None:
        """Why a text cannot be scored, or None."""
        if not text.strip():
            return "is empty"
        words = self._encoder()([text])[0].words
        if words == 0:
            return "has no token for this encoder"
        if words == 1 and self.centering == "sentence":
            return "has one token, which sentence centering turns into zero"
        return None

    def fields(self) -> dict[str, object]:
        """What the signature says of vectors and centering."""
        encoder = self._encoder()
        window = f"{encoder.limit}-{encoder.overlap}" if encoder.limit else "none"
        centering = f"corpus-{self._mean().texts}" if self.centering == "corpus" else self.centering
        names = {"encoder": encoder.name, "layer": encoder.layer, "special_tokens": self.special, "window": window}
        return {**names, "centering": centering, "library": library("transformers")}

    def fit(self, texts: Sequence[str]) -> None:
        """The mean over all tokens of ``texts``, for ``centering=corpus``. Raises RewardError without a token."""
        if self.centering != "corpus":
            raise RewardError(f"fit sets the mean of centering=corpus; this reward has centering={self.centering}")
        means, counts = [], []
        for start in range(0, len(texts), CHUNK):
            self._encoder()(texts[start : start + CHUNK])
            vectors = [self._vectors(text) for text in texts[start : start + CHUNK] if self.nothing(text) is None]
            if vectors:
                means.append(token_mean(vectors).numpy())
                counts.append(sum(len(rows) for rows in vectors))
        if not counts:
            raise RewardError(f"corpus={self.corpus!r}: its texts hold no token; a mean needs some")
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]
        encoder = self._encoder()
        mean = np.average(means, axis=0, weights=counts).tolist()
        self.fitted = Fitted(mean, digest, encoder.name, encoder.layer, self.special)

    def save_mean(self, path: str | Path) -> None:
        """Write the fitted mean as ``.npz``, to be given as ``corpus=``."""
        mean = self._mean()
        with Path(path).open("wb") as file:  # an open file, because numpy would add an ending to a bare name
            np.savez(
                file, mean=mean.mean, texts=mean.texts, encoder=mean.encoder, layer=mean.layer, special=mean.special
            )

    def _centred(self, texts: Sequence[str]) -> dict[str, Tensor]:
        # A list, not a set: in the official code a text that stands twice in the batch counts twice in its mean.
        usable = [text for text in texts if self.nothing(text) is None]
        if not usable:
            return {}
        vectors = [self._vectors(text) for text in usable]
        if self.centering in ("batch", "corpus"):
            mean = token_mean(vectors) if self.centering == "batch" else vectors[0].new_tensor(self._mean().mean)
            vectors = [rows - mean for rows in vectors]
        elif self.centering == "dimension":
            vectors = [by_dimension(rows) for rows in vectors]
        elif self.centering == "sentence":
            vectors = [by_sentence(rows) for rows in vectors]
        return {text: unit(rows) for text, rows in zip(usable, vectors, strict=True)}

    def _vectors(self, text: str) -> Tensor:
        return self._encoder()([text])[0].select(self.special).double()

    def _encoder(self) -> Encoder:
        return load_once(self.place, self.layer, self.device)

    def _mean(self) -> Fitted:
        if self.fitted is None:
            if self.corpus is None:
                raise RewardError("centering=corpus needs its mean: give corpus=FILE, or call fit(texts) first")
            if self.corpus.endswith(".npz"):
                self.fitted = self._read_mean(self.corpus)
            else:
                opened = gzip.open if self.corpus.endswith(".gz") else open
                with opened(self.corpus, "rt", encoding="utf-8") as file:
                    self.fit([line.strip() for line in file if line.strip()])
        assert self.fitted is not None
        return self.fitted

    def _read_mean(self, path: str) -> Fitted:
        with np.load(path, allow_pickle=False) as saved:
            fitted = Fitted(**{key: saved[key].tolist() for key in Fitted.__dataclass_fields__})
        encoder = self._encoder()
        wanted = (encoder.name, encoder.layer, self.special)
        if (fitted.encoder, fitted.layer, fitted.special) != wanted:
            found = f"{fitted.encoder}, layer {fitted.layer}, special tokens {fitted.special}"
            raise RewardError(f"corpus={path!r} was fitted on {found}; here they are {wanted}; fit it again")
        return fitted
