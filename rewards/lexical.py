"""ROUGE (Lin 2004), equal to ``rouge-score``: its tokenizer and its Lsum, and a faster common subsequence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rewards import text as texts
from rewards.scoring import checked_references, library, score_items, signature, undefined_reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Direction = Literal["precision", "recall", "f1"]
Tokenizer = Literal["official", "unicode"]

REMEMBERED = 2**17
WORD = re.compile(r"[^\W_]+")


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, all columns of the table at once in one long integer.

    Hyyro 2004 (bit-parallel LCS); about 50 times as fast as the table in rouge-score, which a test compares it with.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | (1 << place)
    full = unmatched = (1 << len(first)) - 1
    for word in second:
        matched = unmatched & places.get(word, 0)
        unmatched = ((unmatched + matched) | (unmatched - matched)) & full
    return len(first) - unmatched.bit_count()


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


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of ``n`` words, in order."""
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


@lru_cache(maxsize=4)
def tokenizer_of(kind: Tokenizer, stemmer: bool) -> Callable[[str], tuple[str, ...]]:
    """Text -> lower-cased tokens, words over three letters Porter-stemmed if asked. Remembers texts and stems.

    ``official`` is rouge-score's: runs of a-z and 0-9, so text in another script has no token at all;
    ``unicode`` keeps letters and digits of every script.
    """
    from nltk.stem import porter
    from rouge_score.tokenize import tokenize

    class Stems:
        stem = staticmethod(lru_cache(maxsize=REMEMBERED)(porter.PorterStemmer().stem))

    def official(text: str) -> tuple[str, ...]:
        return tuple(tokenize(text, Stems if stemmer else None))

    def unicode(text: str) -> tuple[str, ...]:
        words = WORD.findall(text.lower())
        return tuple(Stems.stem(word) if stemmer and len(word) > 3 else word for word in words)

    return lru_cache(maxsize=REMEMBERED)({"official": official, "unicode": unicode}[kind])


class _Rouge:
    """What the four variants share; each gives ``name`` and ``compare``."""

    name: str
    shortest = 1  # tokens below which a reference holds nothing to find

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
        lib = library("rouge-score")
        return {"direction": self.direction, "stemmer": self.stemmer, "tokenizer": self.tokenizer, "library": lib}


class Rouge1(_Rouge):
    """ROUGE-1: common words. Range [0, 1]."""

    name = "rouge-1"

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of the two texts' words."""
        return rouge_n(self.tokens(candidate), self.tokens(reference), 1)


class Rouge2(_Rouge):
    """ROUGE-2: common pairs of neighbouring words. Range [0, 1]; a reference of one word is undefined."""

    name = "rouge-2"
    shortest = 2

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of the two texts' bigrams."""
        return rouge_n(self.tokens(candidate), self.tokens(reference), 2)


class RougeL(_Rouge):
    """ROUGE-L: the longest common subsequence of words over the whole text. Range [0, 1]."""

    name = "rouge-l"

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 of the two texts' longest common subsequence."""
        return rouge_l(self.tokens(candidate), self.tokens(reference))


class RougeLsum(_Rouge):
    """ROUGE-L summed over sentences (a text's lines, or spaCy's sentences of one line). Range [0, 1]."""

    name = "rouge-lsum"

    def compare(self, candidate: str, reference: str) -> PRF:
        """Precision, recall and F1 by the union of common subsequences of each reference sentence."""
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeLsum"], tokenizer=_Tokens(self.tokens))
        score = scorer.score(*("\n".join(texts.sentences(text)) for text in (reference, candidate)))["rougeLsum"]
        return PRF(score.precision, score.recall, score.fmeasure)

    def _fields(self) -> dict[str, Any]:
        return {**super()._fields(), "sentences": library("spacy")}


class _Tokens(NamedTuple):
    """The object with a ``tokenize`` method that rouge-score asks for."""

    tokenize: Callable[[str], tuple[str, ...]]
