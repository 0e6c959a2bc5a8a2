"""Movers on static word vectors (Clark et al. 2019): a word has the same vector wherever it occurs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.encoding.vectors import StaticVectors, VectorSource, load_once
from rewards.mover.items import WITHOUT_WORDS, Document, Items, Mover, Rows, VectorScaling, items_of, mover_similarity
from rewards.scoring import Inputs, library, score_items, signature
from rewards.text.languages import ENGLISH, Language
from rewards.text.sentences import Reader, Sentences, StopWords

UnknownWords = Literal["zero", "drop"]


@dataclass(frozen=True, eq=False)
class WordSpace:
    """``table`` ``(n + 1, d)`` float32, the last row 0. ``unknown``: row of words without vector; None drops them."""

    table: NDArray[np.float32]
    index: dict[str, int]
    unknown: int | None

    @classmethod
    def of(cls, vectors: StaticVectors, normalize: VectorScaling, unknown: UnknownWords) -> WordSpace:
        """Scale to unit length if asked (a zero vector stays zero) and append the row for unknown words."""
        table = vectors.table
        if normalize == "unit":
            norms = np.linalg.norm(table.astype(np.float64), axis=1, keepdims=True)
            table = (table / np.where(norms > 0, norms, 1.0)).astype(np.float32)
        zero = np.zeros((1, vectors.width), np.float32)
        return cls(np.concatenate([table, zero]), vectors.index, None if unknown == "drop" else len(table))

    def row(self, word: str) -> int | None:
        """The row of a word; None: it is dropped."""
        return self.index.get(word, self.unknown)


@lru_cache(maxsize=4)
def _space(source: VectorSource, normalize: VectorScaling, unknown: UnknownWords) -> WordSpace:
    return WordSpace.of(load_once(source), normalize, unknown)


@lru_cache(maxsize=8)
def _reader(space: WordSpace, stopwords: StopWords, language: Language = ENGLISH) -> Reader[int]:
    return Reader(stopwords, space.row, language)


@dataclass(eq=False)
class StaticMover(Mover):
    """A mover on static vectors."""

    vectors: str
    oov: UnknownWords

    def __post_init__(self) -> None:
        self.source = VectorSource.of(self.vectors)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]: the best of a candidate's references."""
        return score_items(self.name, inputs, self._unscorable, self._best)

    @property
    def heading(self) -> str:
        """`sms vectors.txt.gz unit`."""
        return f"{self.name} {Path(self.vectors).name}{' unit' if self.normalize == 'unit' else ''}"

    @property
    def signature(self) -> str:
        """The content of the vectors, every option, and the versions of splitter and solver."""
        fields: dict[str, Any] = {
            "vectors": load_once(self.source).digest,
            "normalize": self.normalize,
            "oov": self.oov,
        }
        return signature(self.name, **fields, **self.preprocessing.fields(), solver=f"exact-{library('pot')}")

    def document(self, text: str) -> Document:
        """The text as it is scored, for ``explain``."""
        space = self._space()
        stripped, located = self.preprocessing.located_words(text)
        rows, words, sentences = [], [], []
        for sentence in located:
            kept = [(word, row) for word in sentence.words if (row := space.row(word)) is not None]
            if kept:
                rows.append([row for _, row in kept])
                words.append(tuple(word for word, _ in kept))
                sentences.append(stripped[sentence.start : sentence.end])
        numbers = {row: number for number, row in enumerate(dict.fromkeys(row for listed in rows for row in listed))}
        numbered = [tuple(numbers[row] for row in listed) for listed in rows]
        return Document(numbered, space.table[list(numbers)], words, sentences, numbers.get(len(space.table) - 1))

    def _space(self) -> WordSpace:
        return _space(self.source, self.normalize, self.oov)

    def _best(self, candidate: str, references: list[str]) -> float:
        first = self._items(candidate)
        return max(mover_similarity(first, self._items(reference)) for reference in references)

    def _items(self, text: str) -> Items:
        return items_of(self._rows(text), self._space().table, self.kind, self.preprocessing.sentence_weights)

    def _rows(self, text: str) -> Rows:
        read = self.preprocessing
        return _reader(self._space(), read.stopwords, read.language).read(text, read.split)

    def _words(self, text: str) -> Sentences:
        return self.preprocessing.content_words(text)

    def _unscorable(self, text: str) -> str | None:
        """A text of unknown words alone cannot be scored: two of them would both be the zero vector and score 1."""
        unknown = self._space().unknown
        if any(row != unknown for rows in self._rows(text) for row in rows):
            return None
        return "holds no word that has a vector" if self._words(text) else WITHOUT_WORDS
