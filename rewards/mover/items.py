"""Mover similarities of Clark, Celikyilmaz and Smith 2019, section 3: the items that move, and the formula.

The similarity is ``exp(-d)``, where ``d`` is the exact transport cost between the items of two documents. Items are
words (weight: share of the document's words), sentences (mean of their words' vectors; weight: share of the words they
contain), or both together at half weight each, in one problem.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rewards.embedding.space import CHUNK
from rewards.mover.distance import EUCLIDEAN, Distance, Floats
from rewards.scoring import Inputs, ReferenceReward, library, references_of, score_items
from rewards.text.languages import Code, Language, language_of
from rewards.text.sentences import Sentence, Split, StopWords, check_split, check_stop_words, located_words
from rewards.transport import exact_cost, exact_plan

ItemKind = Literal["words", "sentences", "both"]
Moving = Literal["word", "sentence"]
Point = TypeVar("Point")
VectorScaling = Literal["none", "unit"]  # unit: scale word vectors to length 1
SentenceWeights = Literal["words", "uniform"]
WITHOUT_WORDS = "holds no alphabetic word that is not a stop word"
Rows = Sequence[tuple[int, ...]]  # one tuple per sentence: the rows of its words in the table


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one document: ``points`` ``(m, d)`` and ``weights`` ``(m,)`` summing to 1, float64."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Document:
    """A text as a mover reads it: for each sentence the ``rows`` of its words in ``table`` ``(m, d)``.

    ``words`` are those words and ``sentences`` the sentences as written, both in the order of ``rows``; rows are
    numbered by first occurrence. ``unknown`` is the row shared by words without vector, if there is one.
    """

    rows: Rows
    table: NDArray[np.floating]
    words: list[tuple[str, ...]]
    sentences: list[str]
    unknown: int | None = None


def items_of(
    rows: Rows, table: NDArray[np.floating], kind: ItemKind, sentence_weights: SentenceWeights = "words"
) -> Items:
    """The items of a document, whose sentences are rows of ``table``: words, then sentences, by first occurrence."""
    if kind == "words":
        return _words(rows, table)
    if kind == "sentences":
        return _sentences(rows, table, sentence_weights)
    words, sentences = _words(rows, table), _sentences(rows, table, sentence_weights)
    points = np.concatenate([words.points, sentences.points])
    return Items(points, np.concatenate([words.weights, sentences.weights]) / 2)


def numbered(rows: Sequence[Iterable[Point]]) -> tuple[Rows, list[Point]]:
    """Each sentence's words as numbers by first occurrence, and the word of each number."""
    numbers = {point: number for number, point in enumerate(dict.fromkeys(chain.from_iterable(rows)))}
    return [tuple(numbers[point] for point in row) for row in rows], list(numbers)


def named_items(document: Document, kind: ItemKind) -> list[tuple[str, Moving, int, int]]:
    """The items in the order of ``items_of``, for ``explain``: text, kind, first sentence, and place among words."""
    words: dict[int, list[str]] = {}
    first_in: dict[int, int] = {}
    distinct: dict[tuple[int, ...], str] = {}  # a repeated sentence is one item
    for rows, texts, sentence in zip(document.rows, document.words, document.sentences, strict=True):
        distinct.setdefault(rows, sentence)
        for row, word in zip(rows, texts, strict=True):
            words.setdefault(row, []).append(word)
            first_in.setdefault(row, list(distinct).index(rows))
    names: list[tuple[str, Moving, int, int]] = []
    if kind != "sentences":
        for row, forms in words.items():
            label = ", ".join(dict.fromkeys(forms))
            names.append((f"no vector: {label}" if row == document.unknown else label, "word", first_in[row], row))
    if kind != "words":
        names += [(sentence, "sentence", number, number) for number, sentence in enumerate(distinct.values())]
    return names


def _words(rows: Rows, table: NDArray[np.floating]) -> Items:
    counts = Counter(chain.from_iterable(rows))
    return Items(table.take(list(counts), axis=0).astype(np.float64), _shares(counts.values()))


def _sentences(rows: Rows, table: NDArray[np.floating], sentence_weights: SentenceWeights) -> Items:
    counts = Counter(rows)  # a repeated sentence adds weight, not an item
    means = [np.add.reduce(table.take(words, axis=0), axis=0, dtype=np.float64) / len(words) for words in counts]
    weights = (times * (len(words) if sentence_weights == "words" else 1) for words, times in counts.items())
    return Items(np.array(means), _shares(weights))


def _shares(counts: Iterable[int]) -> NDArray[np.float64]:
    weights = np.fromiter(counts, np.float64)
    weights /= weights.sum()
    return weights


def unit_length(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def mover_similarity(first: Items, second: Items, distance: Distance = EUCLIDEAN) -> float:
    """``exp(-transport cost)`` in (0, 1]; 1 for equal documents; symmetric."""
    return math.exp(-exact_cost(first.weights, second.weights, distance.between(first.points, second.points)))


@dataclass(frozen=True)
class Preprocessing:
    """How movers split a text into sentences and words, and what a sentence weighs."""

    stopwords: StopWords = "spacy"
    split: Split = "auto"
    sentence_weights: SentenceWeights = "words"
    code: Code | None = None  # of the language; None: as for English

    def __post_init__(self) -> None:
        check_stop_words(self.stopwords, self.language)
        check_split(self.split, self.language)

    @property
    def language(self) -> Language:
        """The language of the texts."""
        return language_of(self.code)

    def located_words(self, text: str) -> tuple[str, tuple[Sentence, ...]]:
        """The stripped text, and its sentences with the positions of their words to weigh."""
        return located_words(text, self.stopwords, self.split, self.language)

    def fields(self) -> dict[str, Any]:
        """For signatures; later options are left out at their defaults, so that signatures do not change."""
        later = {"language": self.code, "split": self.split, "sentence_weights": self.sentence_weights}
        fields: dict[str, Any] = {"stopwords": self.stopwords, "text": library("spacy")}
        fields |= {name: value for name, value in later.items() if value not in (None, "auto", "words")}
        if "nltk" in (self.stopwords, self.split):
            fields["nltk"] = library("nltk")
        return fields


@dataclass(eq=False, repr=False)
class Mover(ReferenceReward):
    """WMS, SMS or S+WMS; see ``rewards.mover.metrics`` for the options. ``shown``: its vectors in a heading."""

    name: str
    shown: str
    kind: ItemKind
    normalize: VectorScaling
    preprocessing: Preprocessing
    distance = EUCLIDEAN
    condition: ClassVar[str]  # of a word, to follow "holds no word that "

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]: the best of a candidate's references.

        0 for a candidate without a word to weigh (empty, stop words only, none with a vector); NaN where that holds for
        every reference. Vectors far from unit length underflow towards 0: see ``normalize``.
        """
        candidates, references = inputs.candidates, references_of(self.name, inputs)
        chunks = (slice(start, start + CHUNK) for start in range(0, len(candidates), CHUNK))
        scores = [self._chunk(candidates[chunk], references[chunk]) for chunk in chunks]
        return np.concatenate(scores) if scores else np.zeros(0)

    @property
    def heading(self) -> str:
        """`sms vectors.txt.gz unit`, `sms minilm`."""
        return f"{self.name} {self.shown}{' unit' if self.normalize == 'unit' else ''}"

    @abstractmethod
    def reads(self, text: str) -> bool:
        """Whether a text that is not empty can be scored."""

    @abstractmethod
    def items(self, texts: Sequence[str]) -> dict[str, Items]:
        """The items of those of some distinct texts that can be scored."""

    @abstractmethod
    def document(self, text: str) -> Document:
        """The text as it is scored, for ``explain``."""

    def fields(self) -> dict[str, Any]:
        """The options of every mover, for signatures."""
        return {"normalize": self.normalize, **self.preprocessing.fields(), "solver": f"exact-{library('pot')}"}

    def items_of(self, rows: Rows, table: NDArray[np.floating]) -> Items:
        """The items that move."""
        return items_of(rows, table, self.kind, self.preprocessing.sentence_weights)

    def moved(self, first: Items, second: Items) -> tuple[Floats, Floats]:
        """The distances ``(m, n)`` of the items of two documents, and the weight that moves between them."""
        distances = self.distance.between(first.points, second.points)
        return distances, exact_plan(first.weights, second.weights, distances)

    def _unscorable(self, text: str) -> str | None:
        if self.reads(text):
            return None
        return f"holds no word that {self.condition}" if self.preprocessing.located_words(text)[1] else WITHOUT_WORDS

    def _chunk(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
        """Scores of candidates whose texts are read together, each once."""
        items = self.items(list(dict.fromkeys(chain(candidates, *references))))

        def best(candidate: str, usable: list[str]) -> float:
            return max(mover_similarity(items[candidate], items[text], self.distance) for text in usable)

        def unscorable(text: str) -> str | None:
            return None if text in items else WITHOUT_WORDS

        return score_items(self.name, Inputs(candidates, references), unscorable, best)
