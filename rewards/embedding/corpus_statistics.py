"""Statistics of a corpus that scores depend on: the mean token vector, and inverse document frequencies of tokens."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from rewards.encoding.encoder import Encoder
from rewards.errors import DAMAGED, RewardError

FITTED, PER_CALL = "fitted", "references"  # the two values of ``idf`` that are not files

Statistics = TypeVar("Statistics", "CorpusMean", "Idf")


@dataclass(frozen=True)
class CorpusMean:
    """A mean ``(D,)`` of token vectors, the hash of its texts, and the encoder, layer and special tokens it is for."""

    mean: list[float]
    texts: str
    encoder: str
    layer: str
    special: str


@dataclass(frozen=True)
class Idf:
    """``log((N + 1) / (df + 1))``, the weights of tokens in BERTScore.

    ``counts``: in how many of ``documents`` texts each token of ``ids`` occurs; ``texts`` is a hash, ``encoder`` a
    name.
    """

    ids: list[int]
    counts: list[int]
    documents: int
    texts: str
    encoder: str

    @classmethod
    def of(cls, texts: Sequence[str], encoder: Encoder) -> Idf:
        """Counted on ``texts``; a repeated text counts twice, as in bert-score."""
        counts = Counter(number for ids in encoder.ids(texts) for number in set(ids))
        return cls(list(counts), list(counts.values()), len(texts), digest(texts), encoder.name)

    def weights(self, ids: Sequence[int]) -> list[float]:
        """The weight of each token, ``>= 0``: 0 for a token of every text, the largest for one of no text."""
        return [math.log((self.documents + 1) / (self._frequency.get(number, 0) + 1)) for number in ids]

    @cached_property
    def _frequency(self) -> dict[int, int]:
        return dict(zip(self.ids, self.counts, strict=True))


class IdfOption:
    """The option ``idf=``: None, a file of texts or frequencies, ``fitted``, or ``references`` of each call."""

    def __init__(self, option: str | None) -> None:
        self.option = option
        self.fitted: Idf | None = None
        if option is not None and option not in (FITTED, PER_CALL):
            check_file("idf", option, "texts, one a line (.gz too), saved frequencies (.npz), or fitted or references")

    @property
    def per_call(self) -> bool:
        """Whether frequencies are counted anew at each call."""
        return self.option == PER_CALL

    def fit(self, texts: Sequence[str], encoder: Encoder) -> None:
        """Count on ``texts``."""
        self.fitted = Idf.of(texts, encoder)

    def fitted_on(self, texts: Sequence[str], encoder: Encoder) -> IdfOption:
        """A copy that has counted ``texts``."""
        counted = copy.copy(self)
        counted.fit(texts, encoder)
        return counted

    def get(self, encoder: Encoder) -> Idf | None:
        """The frequencies, read or counted at first use; None without the option. Raises RewardError if unfitted."""
        if self.option is None or self.fitted is not None:
            return self.fitted
        if self.option in (FITTED, PER_CALL):
            raise RewardError("idf=fitted: no texts yet; call fit(texts) first, or give idf=FILE")
        if not self.option.endswith(".npz"):
            self.fit(read_texts(self.option), encoder)
        else:
            self.fitted = load(self.option, Idf)
            if self.fitted.encoder != encoder.name:
                difference = f"counted with the encoder {self.fitted.encoder}, not {encoder.name}"
                raise RewardError(f"idf={self.option!r}: {difference}; fit it again")
        return self.fitted

    def field(self, encoder: Encoder) -> str:
        """For signatures: ``none``, ``references``, or the hash of the texts."""
        if self.per_call:
            return PER_CALL
        fitted = self.get(encoder)
        return fitted.texts if fitted else "none"


def shares(weights: Sequence[float]) -> list[float]:
    """Weights that sum to 1; equal ones where all are 0, as with IDF from one reference."""
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 0 else [1.0 / len(weights)] * len(weights)


def check_file(option: str, path: str, wanted: str) -> None:
    """Raise RewardError unless ``path`` is a file."""
    if not Path(path).is_file():
        raise RewardError(f"{option}={path!r}: no such file; give {wanted}")


def read_texts(path: str | Path) -> list[str]:
    """The texts of a file, one a line (``.gz`` too), without empty lines. Raises RewardError."""
    opened = gzip.open if str(path).endswith(".gz") else open
    texts: list[str] = []
    try:
        with opened(path, "rb") as file:
            for line in file:
                texts.append(line.decode("utf-8").strip())
    except (*DAMAGED, UnicodeDecodeError) as error:
        where = f"{path}:{len(texts) + 1}"
        raise RewardError(f"{where}: cannot be read ({error}); give a complete file of UTF-8 text") from error
    return [text for text in texts if text]


def digest(texts: Sequence[str]) -> str:
    """A hash of the texts in their order, for signatures; of JSON, since a text may contain line ends."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:12]


def save(path: str | Path, statistics: Any) -> None:
    """Write the fields of a dataclass as ``.npz``."""
    with Path(path).open("wb") as file:  # an open file, because numpy would add an ending to a bare name
        np.savez(file, **{name: getattr(statistics, name) for name in statistics.__dataclass_fields__})


def load(path: str, kind: type[Statistics]) -> Statistics:
    """Read what ``save`` wrote. Raises RewardError where the file holds something else."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            return kind(**{name: saved[name].tolist() for name in kind.__dataclass_fields__})
    except (*DAMAGED, KeyError, ValueError, TypeError, BadZipFile) as error:
        raise RewardError(f"{path}: not a saved {kind.__name__} ({error}); fit and save it again") from error
