"""Mover similarities of Clark, Celikyilmaz and Smith 2019: WMS, SMS and S+WMS on static word vectors.

``exp(-d)``, where ``d`` is the exact transport cost between two documents' items under Euclidean distance. The items
are words (weight: share of the document's words), sentences (mean of their words' vectors; weight: share of the words
they hold), or both together at half weight each, in one problem.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rewards.mover.vectors import Source, StaticVectors, load_once
from rewards.scoring import Inputs, ReferenceReward, library, references_of, score_items, signature
from rewards.text.sentences import (
    Reader,
    Sentences,
    Split,
    StopWords,
    check_split,
    content_words,
    located_words,
    stop_words,
)
from rewards.transport import distances, exact_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["words", "sentences", "both"]
Normalize = Literal["none", "unit"]
Unknown = Literal["zero", "drop"]
SentenceWeights = Literal["words", "uniform"]
Rows = Sequence[tuple[int, ...]]  # one tuple a sentence: the rows of its words in the table


@dataclass(frozen=True, eq=False)
class Items:
    """What one document sends or receives: ``points`` ``(m, d)`` and ``weights`` ``(m,)`` summing to 1, float64."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Document:
    """A text as a mover reads it: sentence by sentence the ``rows`` of its words in ``table`` ``(m, d)``.

    ``words`` are those words and ``sentences`` the sentences as written, both in the order of ``rows``; rows are
    numbered as they are first said. ``unknown`` is the row that words without vector share, where there is one.
    """

    rows: Rows
    table: NDArray[np.floating]
    words: list[tuple[str, ...]]
    sentences: list[str]
    unknown: int | None = None

    def items(self, kind: Kind, sentence_weights: SentenceWeights) -> Items:
        """What moves: words in the order of their rows, then sentences as they are first said."""
        return items_of(self.rows, self.table, kind, sentence_weights)


@dataclass(frozen=True, eq=False)
class WordSpace:
    """Word vectors ready for movers: ``table`` ``(n + 1, d)`` float32, whose last row is the zero vector.

    ``unknown`` is the row of a word without vector: the last, or None where such words are dropped.
    """

    table: NDArray[np.float32]
    index: dict[str, int]
    unknown: int | None

    @classmethod
    def of(cls, vectors: StaticVectors, normalize: Normalize, unknown: Unknown) -> WordSpace:
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

    def rows(self, sentences: Sequence[Sequence[str]]) -> Rows:
        """Rows of each sentence's words, without those that are dropped; an empty sentence is dropped, too."""
        get, unknown = self.index.get, self.unknown
        found = (tuple([row for word in words if (row := get(word, unknown)) is not None]) for words in sentences)
        return [rows for rows in found if rows]


def items_of(rows: Rows, table: NDArray[np.floating], kind: Kind, sentence_weights: SentenceWeights = "words") -> Items:
    """The items of a document given as rows of ``table`` per sentence, none empty (Clark et al. 2019, section 3).

    Words in the order in which they are first said, then sentences in theirs.
    """
    if kind == "words":
        return _words(rows, table)
    if kind == "sentences":
        return _sentences(rows, table, sentence_weights)
    words, sentences = _words(rows, table), _sentences(rows, table, sentence_weights)
    points = np.concatenate([words.points, sentences.points])
    return Items(points, np.concatenate([words.weights, sentences.weights]) / 2)


def _words(rows: Rows, table: NDArray[np.floating]) -> Items:
    said = Counter(chain.from_iterable(rows))
    return Items(table.take(list(said), axis=0).astype(np.float64), _shares(said.values()))


def _sentences(rows: Rows, table: NDArray[np.floating], sentence_weights: SentenceWeights) -> Items:
    said = Counter(rows)  # a sentence said again adds weight, not an item
    means = [np.add.reduce(table.take(words, axis=0), axis=0, dtype=np.float64) / len(words) for words in said]
    weights = (times * (len(words) if sentence_weights == "words" else 1) for words, times in said.items())
    return Items(np.array(means), _shares(weights))


def _shares(counts: Iterable[int]) -> NDArray[np.float64]:
    weights = np.fromiter(counts, np.float64)
    weights /= weights.sum()
    return weights


def mover_similarity(first: Items, second: Items) -> float:
    """``exp(-transport cost)`` in (0, 1]; 1 for equal documents; symmetric."""
    return math.exp(-exact_cost(first.weights, second.weights, distances(first.points, second.points)))


def score_sentences(
    candidate: Sequence[Sequence[str]], reference: Sequence[Sequence[str]], space: WordSpace, kind: Kind
) -> float:
    """The similarity of two documents given as sentences of kept words, each with at least one item."""
    first, second = (items_of(space.rows(sentences), space.table, kind) for sentences in (candidate, reference))
    return mover_similarity(first, second)


@lru_cache(maxsize=4)
def _space(source: Source, normalize: Normalize, unknown: Unknown) -> WordSpace:
    return WordSpace.of(load_once(source), normalize, unknown)


@lru_cache(maxsize=8)
def _reader(space: WordSpace, stopwords: StopWords) -> Reader[int]:
    """Texts as rows."""
    return Reader(stopwords, space.row)


@dataclass(frozen=True)
class Cut:
    """How movers make words and sentences of a text, and what a sentence weighs."""

    stopwords: StopWords = "spacy"
    split: Split = "auto"
    sentence_weights: SentenceWeights = "words"

    def __post_init__(self) -> None:
        if self.stopwords == "nltk":
            stop_words(self.stopwords)  # its data may be missing: say so now
        check_split(self.split)

    def fields(self) -> dict[str, Any]:
        """For signatures; what is as in all earlier scores is not named, so that equal scores keep their signature."""
        fields: dict[str, Any] = {"stopwords": self.stopwords, "text": library("spacy")}
        if self.split != "auto":
            fields["split"] = self.split
        if self.sentence_weights != "words":
            fields["sentence_weights"] = self.sentence_weights
        if "nltk" in (self.stopwords, self.split):
            fields["nltk"] = library("nltk")
        return fields


class StaticMover(ReferenceReward):
    """WMS, SMS or S+WMS on static vectors; see ``rewards.mover.factory`` for the options."""

    def __init__(self, name: str, kind: Kind, vectors: str, normalize: Normalize, oov: Unknown, cut: Cut) -> None:
        self.name = name
        self.kind: Kind = kind
        self.source = Source.of(vectors)
        self.normalize = normalize
        self.oov = oov
        self.cut = cut

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]: the best of a candidate's references.

        0 for a candidate without a word to weigh (empty, stop words only, no word with a vector); NaN where that holds
        for every reference. Vectors far from unit length underflow towards 0: see ``normalize``.
        """
        references = references_of(self.name, inputs)
        return score_items(inputs.candidates, references, self._unscorable, self._best, floor=0.0)

    @property
    def signature(self) -> str:
        """The content of the vectors, every option, and the versions of splitter and solver."""
        fields: dict[str, Any] = {
            "vectors": load_once(self.source).digest,
            "normalize": self.normalize,
            "oov": self.oov,
        }
        return signature(self.name, **fields, **self.cut.fields(), solver=f"exact-{library('pot')}")

    def oov_rate(self, texts: Iterable[str]) -> float:
        """The share of words to weigh, over all ``texts``, that have no vector; NaN where there is no such word."""
        index = self._space().index
        known = [word in index for text in texts for words in self._words(text) for word in words]
        return 1.0 - float(np.mean(known)) if known else float("nan")

    def document(self, text: str) -> Document:
        """The text as it is scored, to be shown."""
        space = self._space()
        written, found = located_words(text, self.cut.stopwords, self.cut.split)
        rows, words, sentences = [], [], []
        for sentence in found:
            kept = [(word, row) for word in sentence.words if (row := space.row(word)) is not None]
            if kept:
                rows.append([row for _, row in kept])
                words.append(tuple(word for word, _ in kept))
                sentences.append(written[sentence.start : sentence.end])
        numbers = {row: number for number, row in enumerate(dict.fromkeys(row for listed in rows for row in listed))}
        numbered = [tuple(numbers[row] for row in listed) for listed in rows]
        return Document(numbered, space.table[list(numbers)], words, sentences, numbers.get(len(space.table) - 1))

    def items_of(self, document: Document) -> Items:
        """What moves."""
        return document.items(self.kind, self.cut.sentence_weights)

    def _space(self) -> WordSpace:
        return _space(self.source, self.normalize, self.oov)

    def _best(self, candidate: str, references: list[str]) -> float:
        first = self._items(candidate)
        return max(mover_similarity(first, self._items(reference)) for reference in references)

    def _items(self, text: str) -> Items:
        return items_of(self._rows(text), self._space().table, self.kind, self.cut.sentence_weights)

    def _rows(self, text: str) -> Rows:
        return _reader(self._space(), self.cut.stopwords).read(text, self.cut.split)

    def _words(self, text: str) -> Sentences:
        return content_words(text, self.cut.stopwords, self.cut.split)

    def _unscorable(self, text: str) -> str | None:
        """Unknown words alone are nothing either: two texts of them would lie at the same zero vector and score 1."""
        unknown = self._space().unknown
        if any(row != unknown for rows in self._rows(text) for row in rows):
            return None
        return "holds no word that has a vector" if self._words(text) else without_words(text)


def without_words(text: str) -> str:
    """Why a text that ``content_words`` finds nothing in cannot be scored."""
    return "is empty" if not text.strip() else "holds no alphabetic word that is not a stop word"
