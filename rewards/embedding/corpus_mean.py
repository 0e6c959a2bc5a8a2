"""What is learned from texts of one's own before scoring: the corpus mean of token vectors, and their hash."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rewards.errors import RewardError

Kind = TypeVar("Kind")


def check_file(option: str, path: str, wanted: str) -> None:
    """Raise RewardError unless ``path`` is a file."""
    if not Path(path).is_file():
        raise RewardError(f"{option}={path!r}: no such file; give {wanted}")


def read_texts(path: str | Path) -> list[str]:
    """The texts of a file, one a line (``.gz`` too); empty lines are left out."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def digest(texts: Sequence[str]) -> str:
    """A hash of the texts in their order, for signatures; JSON, since a text may hold line ends itself."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class CorpusMean:
    """A mean ``(D,)`` of token vectors, with the hash of its texts and the vectors it belongs to."""

    mean: list[float]
    texts: str
    encoder: str
    layer: str
    special: str

    @property
    def belongs_to(self) -> tuple[str, str, str]:
        """What the vectors that it is subtracted from must have in common with it."""
        return self.encoder, self.layer, self.special


def save(path: str | Path, fitted: Any) -> None:
    """Write the fields of a dataclass as ``.npz``."""
    with Path(path).open("wb") as file:  # an open file, because numpy would add an ending to a bare name
        np.savez(file, **{name: getattr(fitted, name) for name in fitted.__dataclass_fields__})


def load(path: str, kind: type[Kind]) -> Kind:
    """Read what ``save`` wrote. Raises RewardError where the file holds something else."""
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]
    try:
        with np.load(path, allow_pickle=False) as saved:
            return kind(**{name: saved[name].tolist() for name in names})
    except (KeyError, ValueError, OSError) as error:
        raise RewardError(f"{path}: this is no saved {kind.__name__} ({error}); fit and save it again") from error
