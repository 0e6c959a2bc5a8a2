"""ROUGE (Lin 2004), equal to ``rouge-score`` bit for bit, with faster common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rewards import text as texts
from rewards.scoring import checked_references, library, score_items, signature, undefined_reason
from rewards.words import REMEMBERED, ngrams, tokenizer_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]

Direction = Literal["precision", "recall", "f1"]
Tokenizer = Literal["official", "unicode"]
Split = Literal["auto", "lines"]
Sentences = Sequence[tuple[str, ...]]


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence; about 50 times as fast as the table in rouge-score."""
    left = [(1 << len(first)) - 1, *(left for _, left in _lcs_rows(_places(first), len(first), second))]
    return len(first) - left[-1].bit_count()


def lcs_places(first: Sequence[str], second: Sequence[str]) -> int:
    """The positions in ``first`` of one longest common subsequence, as the bits of an integer.

    Of several it is the one that rouge-score reads out of its table from the end: a match where the two words are
    equal, else one word back in ``second`` where the table grew at this word of ``first``, else one back in ``first``.
    """
    places = _places(first)
    if places.keys().isdisjoint(second):
        return 0
    found, reach = 0, (1 << len(first)) - 1
    for at, left in reversed(list(_lcs_rows(places, len(first), second))):
        last = 1 << ((at | ~left) & reach).bit_length() >> 1  # the last position in reach that matches or grew
        if not last:
            break
        if at & last:
            found |= last
        reach = last - 1 if at & last else (last << 1) - 1
    return found


def _places(words: Sequence[str]) -> dict[str, int]:
    """For each word the positions that hold it, as the bits of an integer."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | (1 << place)
    return places


def _lcs_rows(places: dict[str, int], length: int, second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Per word of ``second``: where it stands in ``first``, and the positions where its row of the table stays level.

    Hyyro 2004 (bit-parallel LCS): a row of the table is one integer, whose zeros are where the length grows by one.
    """
    full = left = (1 << length) - 1
    for word in second:
        at = places.get(word, 0)
        matched = left & at
        left = ((left + matched) | (left - matched)) & full
        yield at, left


def prf(hits: int, candidate: int, reference: int) -> PRF:
    """Precision, recall and F1 of ``hits`` common units among those of both sides (each at least 1)."""
    precision, recall = hits / candidate, hits / reference
    return PRF(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


def rouge_l(candidate: Sequence[str], reference: Sequence[str]) -> PRF:
    """ROUGE-L: one longest common subsequence over the whole texts, given as tokens."""
    return prf(lcs_length(candidate, reference), len(candidate), len(reference))


def rouge_n(candidate: Sequence[str], reference: Sequence[str], n: int) -> PRF:
    """ROUGE-N of tokens: clipped n-gram matches. A candidate shorter than ``n`` has no n-gram and scores 0."""
    first, second = Counter(ngrams(candidate, n)), Counter(ngrams(reference, n))
    return prf((first & second).total(), max(first.total(), 1), second.total())


def rouge_lsum(candidate: Sentences, reference: Sentences) -> PRF:
    """ROUGE-L summed over sentences, given as tokens (Lin 2004, section 3.2).

    Of each reference sentence the words count that are in its common subsequence with any candidate sentence; in all,
    a word counts at most as often as the candidate holds it.
    """
    united: Counter[str] = Counter()
    for sentence, times in Counter(reference).items():  # repeated sentences add work only once
        united.update({word: times * count for word, count in Counter(_union(sentence, set(candidate))).items()})
    held = Counter(chain.from_iterable(candidate))
    return prf((united & held).total(), held.total(), sum(map(len, reference)))


def _union(sentence: Sequence[str], others: Iterable[Sequence[str]]) -> Iterator[str]:
    """The words of ``sentence`` that are in its longest common subsequence with any of ``others``."""
    found = 0
    for other in others:
        found |= lcs_places(sentence, other)
    while found:
        last = found.bit_length() - 1
        yield sentence[last]
        found ^= 1 << last


@lru_cache(maxsize=REMEMBERED)
def sentences_of(text: str, split: Split, kind: Tokenizer, stemmer: bool) -> Sentences:
    """The tokens of each sentence, sentences without a token left out."""
    lines = text.split("\n") if split == "lines" else texts.sentences(text)
    tokenize = tokenizer_of(kind, stemmer)
    return tuple(tokens for tokens in map(tokenize, lines) if tokens)


class Rouge:
    """What all variants share; each gives ``name`` and ``compare``."""

    name: str

    def __init__(self, direction: Direction = "f1", stemmer: bool = False, tokenizer: Tokenizer = "official") -> None:
        self.direction = direction
        self.stemmer = stemmer
        self.tokenizer = tokenizer

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]; 0 for an empty candidate, NaN where no reference has a token.

        Of several references the one with the best F1 counts, also for precision and recall (as in rouge-score).
        """
        references = checked_references(self.name, candidates, references, sources)
        return score_items(candidates, references, self._nothing, self._best, floor=0.0)

    @property
    def shortest(self) -> int:
        """The number of tokens below which a reference holds nothing to find."""
        return 1

    @property
    def signature(self) -> str:
        """Direction, stemmer, tokenizer and library versions."""
        return signature(self.name, **self._fields())

    def undefined(self, candidate: str, references: Sequence[str] | None = None) -> str | None:
        """Why the score is NaN: no reference with enough tokens."""
        return undefined_reason(references, self._nothing)

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of two texts."""
        raise NotImplementedError

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens that are compared."""
        return tokenizer_of(self.tokenizer, self.stemmer)(text)

    def units(self, text: str) -> Sequence[Hashable]:
        """What two texts must have in common to score above 0: tokens."""
        return self.tokens(text)

    def ceiling(self, common: Counts, candidate: int, reference: Counts) -> Counts:
        """The highest score of texts with so many units (``candidate`` at least 1), ``common`` of them shared."""
        if self.direction == "f1":
            return 2 * common / (candidate + reference)
        return common / (candidate if self.direction == "precision" else reference.clip(1))

    def _best(self, candidate: str, references: list[str]) -> float:
        scores = max((self.compare(candidate, reference) for reference in references), key=lambda score: score.f1)
        return getattr(scores, self.direction)

    def _nothing(self, text: str) -> str | None:
        if len(self.tokens(text)) >= self.shortest:
            return None
        if self.tokenizer == "official" and len(tokenizer_of("unicode", False)(text)) >= self.shortest:
            return "has too few tokens of a-z and 0-9 (tokenizer=unicode counts every script)"
        return "is empty" if not text.strip() else f"has fewer than {self.shortest} tokens"

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"direction": self.direction, "stemmer": self.stemmer, "tokenizer": self.tokenizer}
        fields["library"] = library("rouge-score")  # whose numbers these are
        return fields | ({"stems": library("nltk")} if self.stemmer else {})


class RougeN(Rouge):
    """What ROUGE-1, -2 and -3 share; each gives ``n``."""

    n: int

    @property
    def shortest(self) -> int:
        """A reference shorter than ``n`` tokens holds no n-gram."""
        return self.n

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of the two texts' n-grams."""
        return rouge_n(self.tokens(candidate), self.tokens(reference), self.n)

    def units(self, text: str) -> Sequence[Hashable]:
        """The text's n-grams."""
        return ngrams(self.tokens(text), self.n)


class Rouge1(RougeN):
    """ROUGE-1: common words. Range [0, 1]."""

    name = "rouge-1"
    n = 1


class Rouge2(RougeN):
    """ROUGE-2: common pairs of neighbouring words. Range [0, 1]; a reference of one word is undefined."""

    name = "rouge-2"
    n = 2


class Rouge3(RougeN):
    """ROUGE-3: common runs of three words. Range [0, 1]; a reference of fewer than three words is undefined."""

    name = "rouge-3"
    n = 3


class RougeL(Rouge):
    """ROUGE-L: the longest common subsequence of words over the whole text. Range [0, 1]."""

    name = "rouge-l"

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of the two texts' longest common subsequence."""
        return rouge_l(self.tokens(candidate), self.tokens(reference))


class RougeLsum(Rouge):
    """ROUGE-L summed over sentences (a text's lines, or spaCy's sentences of one line). Range [0, 1]."""

    name = "rouge-lsum"

    def __init__(
        self,
        direction: Direction = "f1",
        stemmer: bool = False,
        tokenizer: Tokenizer = "official",
        split: Split = "auto",
    ) -> None:
        super().__init__(direction, stemmer, tokenizer)
        self.split = split

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 by the union of common subsequences of each reference sentence."""
        return rouge_lsum(self._sentences(candidate), self._sentences(reference))

    def _sentences(self, text: str) -> Sentences:
        return sentences_of(text, self.split, self.tokenizer, self.stemmer)

    def _fields(self) -> dict[str, Any]:
        splitter = {"sentences": library("spacy")} if self.split == "auto" else {}
        return {**super()._fields(), "split": self.split, **splitter}
