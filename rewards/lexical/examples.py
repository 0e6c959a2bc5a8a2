"""The judged texts of BLEU Neighbors: pairs of a text and its score, from Python or a JSONL file."""

from __future__ import annotations

import gzip
import hashlib
import json
import numbers
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rewards.errors import DAMAGED, RewardError

NAME = "bleu-neighbors"


@dataclass(frozen=True, eq=False)
class ScoredTexts:
    """Judged texts: ``scores`` ``(m,)`` float64, higher is better; ``digest`` is a hash of both (12 hex digits)."""

    texts: tuple[str, ...]
    scores: NDArray[np.float64]
    digest: str

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, float]]) -> ScoredTexts:
        """Pairs of a text and a finite score, at least one. Raises RewardError."""
        for number, pair in enumerate(pairs):
            is_pair = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
            _check_pair(f"example {number}", *(pair if is_pair else (None, None)))
        if not pairs:
            raise RewardError(f"{NAME}: examples is empty; give at least one text with its score")
        texts, scores = tuple(text for text, _ in pairs), np.array([float(score) for _, score in pairs])
        content = json.dumps([texts, scores.tolist()])
        return cls(texts, scores, hashlib.sha256(content.encode()).hexdigest()[:12])

    @classmethod
    def read(cls, path: str | Path) -> ScoredTexts:
        """A JSONL file (gzip too) of objects with ``text`` and ``score``. Raises RewardError with the line's number."""
        if not Path(path).is_file():
            raise RewardError(f"{NAME}: examples={str(path)!r}: no such file; give a JSONL file of text and score")
        opener = gzip.open if str(path).endswith(".gz") else open
        pairs, number = [], 0
        try:
            with opener(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        pairs.append(_pair_of(f"{path}, line {number}", line))
        except DAMAGED as error:
            raise RewardError(f"{NAME}: {path}, line {number + 1} cannot be read ({error}); check the file") from error
        if not pairs:
            raise RewardError(f"{NAME}: examples={str(path)!r} is empty; give at least one text with its score")
        return cls.of(pairs)

    def drawn(self, number: int, seed: int) -> ScoredTexts:
        """A random sample of ``number`` examples without repetition, in their order; ``seed`` determines it."""
        if not 1 <= number <= len(self.texts):
            raise RewardError(
                f"{NAME}: subsample={number} must be 1 to {len(self.texts)}: there are {len(self.texts)} examples"
            )
        rows = np.sort(np.random.default_rng(seed).choice(len(self.texts), number, replace=False))
        return ScoredTexts(tuple(self.texts[row] for row in rows), self.scores[rows], self.digest)


def _check_pair(where: str, text: object, score: object) -> None:
    if not isinstance(text, str):
        raise RewardError(f"{NAME}: {where} is not a text with its score; write (text, score)")
    number = isinstance(score, numbers.Real) and not isinstance(score, bool)
    if not number or not abs(score) <= sys.float_info.max:  # type: ignore[arg-type]
        raise RewardError(f"{NAME}: {where}: the score {score!r:.40} is not a finite number")


def _pair_of(where: str, line: bytes) -> tuple[str, float]:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, long integers, deep nesting
        raise RewardError(f"{NAME}: {where} is not JSON ({error})") from error
    if not isinstance(row, dict) or not {"text", "score"} <= row.keys():
        raise RewardError(f"{NAME}: {where} has no 'text' and 'score'")
    _check_pair(where, row["text"], row["score"])
    return row["text"], row["score"]
