"""Statistics of a corpus that scores depend on: the mean token vector, and inverse document frequencies of tokens."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from rewards.encoding.encoder import Encoder
from rewards.errors import DAMAGED, RewardError

PER_CALL = "references"  # the value of ``idf`` that is no file


@dataclass(frozen=True)
class CorpusMean:
    """A mean ``(D,)`` of token vectors, the hash of its texts, and the encoder, layer and special tokens it is for."""

    mean: list[float]
    texts: str
    encoder: str
    layer: str
    special: str

    def save(self, path: str | Path) -> None:
        """Write the fields as ``.npz``."""
        with Path(path).open("wb") as file:  # an open file, because numpy would add an ending to a bare name
            np.savez(file, **asdict(self))

    @classmethod
    def load(cls, path: str) -> CorpusMean:
        """Read what ``save`` wrote. Raises RewardError where the file holds something else."""
        try:
            with np.load(path, allow_pickle=False) as saved:
                return cls(**{field.name: saved[field.name].tolist() for field in fields(cls)})
        except (*DAMAGED, KeyError, ValueError, TypeError, RuntimeError, BadZipFile) as error:
            raise RewardError(f"{path}: not a saved mean ({error}); fit and save it again") from error


@dataclass(frozen=True)
class Idf:
    """``log((N + 1) / (df + 1))``, the weights of tokens in BERTScore.

    ``counts``: in how many of ``documents`` texts each token occurs; ``texts`` is a hash.
    """

    counts: dict[int, int]
    documents: int
    texts: str

    @classmethod
    def of(cls, texts: Sequence[str], encoder: Encoder) -> Idf:
        """Counted on ``texts``; a repeated text counts twice, as in bert-score."""
        counts = Counter(number for ids in encoder.ids(texts) for number in set(ids))
        return cls(counts, len(texts), digest(texts))

    def weights(self, ids: Sequence[int]) -> list[float]:
        """The weight of each token, ``>= 0``: 0 for a token of every text, the largest for one of no text."""
        return [math.log((self.documents + 1) / (self.counts.get(number, 0) + 1)) for number in ids]


def shares(weights: Sequence[float]) -> list[float]:
    """Weights that sum to 1; equal ones where all are 0, as with IDF from one reference."""
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 0 else [1.0 / len(weights)] * len(weights)


def check_file(option: str, path: str, kind: str) -> None:
    """Raise RewardError unless ``path`` is a file."""
    if not Path(path).is_file():
        raise RewardError(f"{option}={path!r}: no such file; give {kind}")


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
