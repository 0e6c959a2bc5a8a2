"""Movers on static word vectors (Clark et al. 2019): a word has the same vector wherever it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewards.encoding.vectors import StaticVectors, VectorSource, load_once
from rewards.mover.items import Document, Items, Mover, Rows, VectorScaling, numbered, unit_length
from rewards.scoring import signature
from rewards.text.languages import ENGLISH, Language
from rewards.text.sentences import Reader, StopWords

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
        table = unit_length(vectors.table).astype(np.float32) if normalize == "unit" else vectors.table
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
    condition = "has a vector"

    def __post_init__(self) -> None:
        self.source = VectorSource.of(self.vectors)

    @property
    def signature(self) -> str:
        """The content of the vectors, every option, and the versions of splitter and solver."""
        of_vectors = {"vectors": load_once(self.source).digest, "normalize": self.normalize, "oov": self.oov}
        return signature(self.name, **(of_vectors | self.fields()))

    def items(self, texts: Sequence[str]) -> dict[str, Items]:
        """Each by itself."""
        table = self._space().table
        return {text: self.items_of(self._rows(text), table) for text in texts if self.reads(text)}

    def reads(self, text: str) -> bool:
        """Whether a word has a vector: two texts of unknown words alone would both be the zero vector and score 1."""
        unknown = self._space().unknown
        return any(row != unknown for row in chain(*self._rows(text)))

    def document(self, text: str) -> Document:
        """The text as it is scored, for ``explain``."""
        space = self._space()
        stripped, located = self.preprocessing.located_words(text)
        rows, words, sentences = [], [], []
        for sentence in located:
            weighed = [(word, row) for word in sentence.words if (row := space.row(word)) is not None]
            if weighed:
                rows.append([row for _, row in weighed])
                words.append(tuple(word for word, _ in weighed))
                sentences.append(stripped[sentence.start : sentence.end])
        places, used = numbered(rows)
        zero = len(space.table) - 1
        return Document(places, space.table[used], words, sentences, used.index(zero) if zero in used else None)

    def _rows(self, text: str) -> Rows:
        how = self.preprocessing
        return _reader(self._space(), how.stopwords, how.language).read(text, how.split)

    def _space(self) -> WordSpace:
        return _space(self.source, self.normalize, self.oov)
