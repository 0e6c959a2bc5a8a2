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
from rewards.mover.items import WITHOUT_WORDS, Document, Items, Mover, Rows, VectorScaling, unit_length
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

    def __post_init__(self) -> None:
        self.source = VectorSource.of(self.vectors)

    @property
    def signature(self) -> str:
        """The content of the vectors, every option, and the versions of splitter and solver."""
        own = {"vectors": load_once(self.source).digest, "normalize": self.normalize, "oov": self.oov}
        return signature(self.name, **(own | self.fields()))

    def items(self, texts: Sequence[str]) -> dict[str, Items]:
        """Of texts with a word that has a vector: two of unknown words alone would both be the zero vector."""
        table, rows_of = self._space().table, {text: self._rows(text) for text in texts}
        return {text: self.items_of(rows, table) for text, rows in rows_of.items() if self._known(rows)}

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

    def _rows(self, text: str) -> Rows:
        read = self.preprocessing
        return _reader(self._space(), read.stopwords, read.language).read(text, read.split)

    def _known(self, rows: Rows) -> bool:
        """Whether a row is that of a word with a vector."""
        unknown = self._space().unknown
        return any(row != unknown for row in chain.from_iterable(rows))

    def _unscorable(self, text: str) -> str | None:
        if self._known(self._rows(text)):
            return None
        return "holds no word that has a vector" if self.preprocessing.content_words(text) else WITHOUT_WORDS
