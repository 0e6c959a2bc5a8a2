"""Inverse document frequencies of tokens, as BERTScore and MoverScore weigh them: ``log((N + 1) / (df + 1))``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.embedding.corpus_mean import check_file, digest, load, read_texts, save
from rewards.errors import RewardError

if TYPE_CHECKING:
    from rewards.encoding.encoder import Encoder

FITTED, PER_CALL = "fitted", "references"  # the two values of ``idf`` that are no files


@dataclass(frozen=True)
class Idf:
    """In how many of ``documents`` texts each token id occurs, with the hash of the texts and the encoder's name."""

    ids: list[int]
    counts: list[int]
    documents: int
    texts: str
    encoder: str

    @classmethod
    def of(cls, texts: Sequence[str], encoder: Encoder) -> Idf:
        """Counted on ``texts``; one that stands there twice counts twice, as in bert-score."""
        counts = Counter(number for ids in encoder.ids(texts) for number in set(ids))
        return cls(list(counts), list(counts.values()), len(texts), digest(texts), encoder.name)

    def weights(self, ids: Sequence[int]) -> list[float]:
        """The weight of each token, ``>= 0``: 0 where it is in every text, the most where it is in none."""
        return [math.log((self.documents + 1) / (self._frequency.get(number, 0) + 1)) for number in ids]

    @cached_property
    def _frequency(self) -> dict[int, int]:
        return dict(zip(self.ids, self.counts, strict=True))


class IdfOption:
    """What ``idf=`` asks for: nothing, a file of texts or a saved one, ``fitted`` by ``fit``, or ``references``.

    ``references`` counts on the references of each call, as bert-score does, so that a score depends on its mates.
    """

    def __init__(self, option: str | None) -> None:
        self.option = option
        self.fitted: Idf | None = None
        if option is not None and option not in (FITTED, PER_CALL):
            wanted = "texts, one a line (.gz too), a saved one (.npz), or the word fitted or references"
            check_file("idf", option, wanted)

    @property
    def per_call(self) -> bool:
        """Whether it is counted anew at each call."""
        return self.option == PER_CALL

    def fit(self, texts: Sequence[str], encoder: Encoder) -> None:
        """Count on ``texts``."""
        self.fitted = Idf.of(texts, encoder)

    def get(self, encoder: Encoder) -> Idf | None:
        """The frequencies, read or counted at first use; None without the option. Raises RewardError if unfitted."""
        if self.option is None or self.fitted is not None:
            return self.fitted
        if self.option in (FITTED, PER_CALL):
            raise RewardError("idf=fitted needs its texts: call fit(texts) first, or give idf=FILE")
        if not self.option.endswith(".npz"):
            self.fit(read_texts(self.option), encoder)
        else:
            self.fitted = load(self.option, Idf)
            if self.fitted.encoder != encoder.name:
                found = f"was counted with {self.fitted.encoder}, here it is {encoder.name}"
                raise RewardError(f"idf={self.option!r} {found}; fit it again")
        return self.fitted

    def save(self, path: str | Path, encoder: Encoder) -> None:
        """Write the frequencies as ``.npz``, to be given as ``idf=``."""
        save(path, self.get(encoder))

    def field(self, encoder: Encoder) -> str:
        """For signatures: ``none``, ``references``, or the hash of the texts."""
        if self.per_call:
            return PER_CALL
        found = self.get(encoder)
        return found.texts if found else "none"


def shares(weights: Sequence[float]) -> list[float]:
    """Weights that sum to 1. Where all are 0, as IDF from one reference gives, every token weighs the same."""
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 0 else [1.0 / len(weights)] * len(weights)
