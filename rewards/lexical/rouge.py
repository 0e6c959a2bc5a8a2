"""ROUGE (Lin 2004), equal to ``rouge-score`` bit for bit, with faster common subsequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rewards.lexical.rouge_tokens import PRF, Sentences, rouge_l, rouge_lsum, rouge_n
from rewards.lexical.words import REMEMBERED, ngrams, tokenizer_of
from rewards.scoring import Inputs, ReferenceReward, library, references_of, score_items, signature
from rewards.text import sentences as texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]

Direction = Literal["precision", "recall", "f1"]
Tokenizer = Literal["official", "unicode"]
Split = Literal["auto", "lines"]


@dataclass(frozen=True)
class Words:
    """How ROUGE reads a text: its tokens, stemmed or as they are."""

    tokenizer: Tokenizer
    stemmer: bool

    def __call__(self, text: str) -> tuple[str, ...]:
        """The tokens that are compared."""
        return tokenizer_of(self.tokenizer, self.stemmer)(text)

    def fields(self) -> dict[str, Any]:
        """For signatures; the numbers are those of rouge-score."""
        fields = {"stemmer": self.stemmer, "tokenizer": self.tokenizer, "library": library("rouge-score")}
        return fields | ({"stems": library("nltk")} if self.stemmer else {})


class Variant(Protocol):
    """What two texts have in common."""

    @property
    def shortest(self) -> int:
        """The fewest tokens of a reference that holds any of it."""

    def compare(self, candidate: str, reference: str, words: Words) -> PRF:
        """Precision, recall and F1 of two texts."""

    def units(self, text: str, words: Words) -> Sequence[Hashable]:
        """What two texts must have in common to score above 0."""

    def fields(self) -> dict[str, Any]:
        """For signatures."""


@dataclass(frozen=True)
class Ngrams:
    """Common runs of ``shortest`` words."""

    shortest: int

    def compare(self, candidate: str, reference: str, words: Words) -> PRF:
        """Precision, recall and F1 of the two texts' n-grams."""
        return rouge_n(words(candidate), words(reference), self.shortest)

    def units(self, text: str, words: Words) -> Sequence[Hashable]:
        """The text's n-grams."""
        return ngrams(words(text), self.shortest)

    def fields(self) -> dict[str, Any]:
        """Nothing: the name says it."""
        return {}


@dataclass(frozen=True)
class Subsequence:
    """The longest common subsequence of words over the whole text."""

    shortest: int = 1

    def compare(self, candidate: str, reference: str, words: Words) -> PRF:
        """Precision, recall and F1 of the two texts' longest common subsequence."""
        return rouge_l(words(candidate), words(reference))

    def units(self, text: str, words: Words) -> Sequence[Hashable]:
        """The text's tokens."""
        return words(text)

    def fields(self) -> dict[str, Any]:
        """Nothing: the name says it."""
        return {}


@dataclass(frozen=True)
class SentenceSubsequences:
    """Longest common subsequences of each reference sentence with all sentences of the candidate."""

    split: Split
    shortest: int = 1

    def compare(self, candidate: str, reference: str, words: Words) -> PRF:
        """Precision, recall and F1 by the union of common subsequences of each reference sentence."""
        first, second = (sentences_of(text, self.split, words) for text in (candidate, reference))
        return rouge_lsum(first, second)

    def units(self, text: str, words: Words) -> Sequence[Hashable]:
        """The text's tokens."""
        return words(text)

    def fields(self) -> dict[str, Any]:
        """Where sentences come from."""
        return {"split": self.split, **({"sentences": library("spacy")} if self.split == "auto" else {})}


@lru_cache(maxsize=REMEMBERED)
def sentences_of(text: str, split: Split, words: Words) -> Sentences:
    """The tokens of each sentence, sentences without a token left out."""
    lines = text.split("\n") if split == "lines" else texts.sentences(text)
    return tuple(tokens for tokens in map(words, lines) if tokens)


class Rouge(ReferenceReward):
    """One variant of ROUGE as a reward; see the functions below."""

    def __init__(self, name: str, variant: Variant, direction: Direction, words: Words) -> None:
        self.name = name
        self.variant = variant
        self.direction = direction
        self.words = words

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]; 0 for an empty candidate, NaN where no reference has a token.

        Of several references the one with the best F1 counts, also for precision and recall (as in rouge-score).
        """
        references = references_of(self.name, inputs)
        return score_items(inputs.candidates, references, self._unscorable, self._best, floor=0.0)

    @property
    def signature(self) -> str:
        """Direction, stemmer, tokenizer and library versions."""
        return signature(self.name, direction=self.direction, **self.words.fields(), **self.variant.fields())

    def units(self, text: str) -> Sequence[Hashable]:
        """What two texts must have in common to score above 0."""
        return self.variant.units(text, self.words)

    def ceiling(self, common: Counts, candidate: int, reference: Counts) -> Counts:
        """The highest score of texts with so many units (``candidate`` at least 1), ``common`` of them shared."""
        if self.direction == "f1":
            return 2 * common / (candidate + reference)
        return common / (candidate if self.direction == "precision" else reference.clip(1))

    def _best(self, candidate: str, references: list[str]) -> float:
        scores = (self.variant.compare(candidate, reference, self.words) for reference in references)
        best: float = getattr(max(scores, key=lambda score: score.f1), self.direction)
        return best

    def _unscorable(self, text: str) -> str | None:
        shortest = self.variant.shortest
        if len(self.words(text)) >= shortest:
            return None
        if self.words.tokenizer == "official" and len(tokenizer_of("unicode", False)(text)) >= shortest:
            return "has too few tokens of a-z and 0-9 (tokenizer=unicode counts every script)"
        return "is empty" if not text.strip() else f"has fewer than {shortest} tokens"


def rouge_1(direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official") -> Rouge:
    """ROUGE-1: common words. Range [0, 1]."""
    return Rouge("rouge-1", Ngrams(1), direction, Words(tokenizer, stemmer))


def rouge_2(direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official") -> Rouge:
    """ROUGE-2: common pairs of neighbouring words. Range [0, 1]; a reference of one word is undefined."""
    return Rouge("rouge-2", Ngrams(2), direction, Words(tokenizer, stemmer))


def rouge_3(direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official") -> Rouge:
    """ROUGE-3: common runs of three words. Range [0, 1]; a reference of fewer than three words is undefined."""
    return Rouge("rouge-3", Ngrams(3), direction, Words(tokenizer, stemmer))


def rouge_longest(direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official") -> Rouge:
    """ROUGE-L: the longest common subsequence of words over the whole text. Range [0, 1]."""
    return Rouge("rouge-l", Subsequence(), direction, Words(tokenizer, stemmer))


def rouge_longest_sum(
    direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official", split: Split = "auto"
) -> Rouge:
    """ROUGE-L summed over sentences (a text's lines, or spaCy's sentences of one line). Range [0, 1]."""
    return Rouge("rouge-lsum", SentenceSubsequences(split), direction, Words(tokenizer, stemmer))
