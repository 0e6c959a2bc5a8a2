"""ROUGE (Lin 2004), equal to ``rouge-score`` bit for bit, with faster common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rewards.lexical.words import Tokenizer, TokenizerOption, ngrams, stemmer_for, stemming, tokenizer_of, tokenizing
from rewards.options import takes
from rewards.scoring import HEADED, Direction, DirectionOption, Inputs, ReferenceReward, library, score_items, signature
from rewards.text import sentences as texts
from rewards.text.languages import Code, Language, language_of, splitter_of
from rewards.text.words import REMEMBERED, words

Counts = NDArray[np.float64]
Split = Literal["auto", "lines"]
Sentences = Sequence[tuple[str, ...]]


# ---- formulas of tokens ----


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence; about 50 times as fast as the table in rouge-score."""
    rows = [(0, (1 << len(first)) - 1), *_lcs_rows(_positions(first), len(first), second)]
    return len(first) - rows[-1][1].bit_count()


def lcs_positions(first: Sequence[str], second: Sequence[str]) -> int:
    """The positions in ``first`` of one longest common subsequence, as the bits of an integer.

    If there are several, the one that rouge-score reads from its table, starting at the end: a match if the two words
    are equal, else one word back in ``second`` if the table grew at this word of ``first``, else one back in ``first``.
    """
    positions = _positions(first)
    if positions.keys().isdisjoint(second):
        return 0
    subsequence, reach = 0, (1 << len(first)) - 1
    for equal, level in reversed(list(_lcs_rows(positions, len(first), second))):
        last = 1 << ((equal | ~level) & reach).bit_length() >> 1  # the last position in reach that matches or grew
        if not last:
            break
        if equal & last:
            subsequence |= last
        reach = last - 1 if equal & last else (last << 1) - 1
    return subsequence


def _positions(words: Sequence[str]) -> dict[str, int]:
    """The positions of each word, as the bits of an integer."""
    positions: dict[str, int] = {}
    for position, word in enumerate(words):
        positions[word] = positions.get(word, 0) | (1 << position)
    return positions


def _lcs_rows(positions: dict[str, int], length: int, second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Per word of ``second``: its positions in ``first``, and the positions at which its row of the table is level.

    Hyyro 2004 (bit-parallel LCS): a row of the table is one integer. Its zeros are where the length grows by one.
    """
    full = level = (1 << length) - 1
    for word in second:
        equal = positions.get(word, 0)
        matched = level & equal
        level = ((level + matched) | (level - matched)) & full
        yield equal, level


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

    A word of a reference sentence counts if it is in the common subsequence with any candidate sentence, but in total
    at most as often as in the candidate.
    """
    united: Counter[str] = Counter()
    for sentence, times in Counter(reference).items():  # repeated sentences add work only once
        words = Counter(sentence[place] for place in _places(_union(sentence, set(candidate))))
        united.update({word: times * count for word, count in words.items()})
    available = Counter(chain.from_iterable(candidate))
    return prf((united & available).total(), available.total(), sum(map(len, reference)))


def _union(sentence: Sequence[str], others: Iterable[Sequence[str]]) -> int:
    """The places in ``sentence``, as bits, that are in its longest common subsequence with any of ``others``."""
    bits = 0
    for other in others:
        bits |= lcs_positions(sentence, other)
    return bits


def _places(bits: int) -> Iterator[int]:
    """The places of the bits that are 1, in order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


# ---- which units count ----


class Matches(NamedTuple):
    """The units of both texts (words or n-grams, as compared), and the places of those that count in each."""

    candidate: list[str]
    reference: list[str]
    places: list[tuple[int, int]]


def match_units(candidate: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int]]:
    """The k-th of a unit in the candidate and its k-th in the reference, as clipped counts count them."""
    free: dict[str, list[int]] = {}
    for place in reversed(range(len(reference))):
        free.setdefault(reference[place], []).append(place)
    return [(place, free[unit].pop()) for place, unit in enumerate(candidate) if free.get(unit)]


def match_in_order(candidate: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int]]:
    """One longest common subsequence."""
    rest = enumerate(reference)
    return [
        (place, next(other for other, word in rest if word == candidate[place]))
        for place in _places(lcs_positions(candidate, reference))
    ]


def match_sentences(candidate: Sentences, reference: Sentences) -> list[tuple[int, int]]:
    """The words of the reference that `rouge_lsum` counts, and as many equal ones of the candidate."""
    words, united, start = [*chain(*reference)], [], 0
    for sentence in reference:
        united += [start + place for place in _places(_union(sentence, candidate))]
        start += len(sentence)
    pairs = match_units([*chain(*candidate)], [words[place] for place in united])
    return [(place, united[other]) for place, other in pairs]


# ---- rewards of texts ----


@lru_cache(maxsize=REMEMBERED)
def sentences_of(text: str, split: Split, tokenize: Callable[[str], tuple[str, ...]], language: Language) -> Sentences:
    """The tokens of each sentence that has any."""
    lines = text.split("\n") if split == "lines" else texts.sentences(text, language)
    return tuple(tokens for tokens in map(tokenize, lines) if tokens)


@dataclass(eq=False, repr=False)
class Rouge(ReferenceReward):
    """One variant of ROUGE as a reward; see the functions below.

    ``formula`` compares tokens or, with ``split``, sentences; a reference needs at least ``n`` tokens.
    """

    name: str
    formula: Callable[[Any, Any], PRF]
    direction: Direction
    stemmer: str | None
    tokenizer: Tokenizer
    language: Code | None
    n: int = 1
    split: Split | None = None

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]; 0 for an empty candidate, NaN where no reference has a token.

        With several references the one with the best F1 counts, also for precision and recall (as in rouge-score).
        """
        return score_items(self.name, inputs, self._unscorable, self._best)

    @property
    def heading(self) -> str:
        """`rouge-l F1 stems`, and the language if it is given."""
        units = "stems" if self.stemmer else "characters" if self.tokenizer == "character" else "words"
        return " ".join(filter(None, (self.name, HEADED[self.direction], units, self.language)))

    @property
    def signature(self) -> str:
        """Direction, stemmer, tokenizer, language, and the versions of the libraries that stem and split."""
        fields: dict[str, object] = {"stemmer": self.stemmer is not None}
        fields |= {**tokenizing(self.tokenizer, self.language), **stemming(self.stemmer)}
        fields |= {"split": self.split} if self.split else {}
        fields |= {"sentences": library("spacy")} if self.split == "auto" else {}
        return signature(self.name, direction=self.direction, **fields)

    def units(self, text: str) -> Sequence[Hashable]:
        """The n-grams of a text: without a common one, two texts score 0."""
        return ngrams(self._tokens(text), self.n)

    def ceiling(self, common: Counts, candidate: int, reference: Counts) -> Counts:
        """The highest score of texts with so many units (``candidate`` at least 1), ``common`` of them shared."""
        if self.direction == "f1":
            return 2 * common / (candidate + reference)
        return common / (candidate if self.direction == "precision" else reference.clip(1))

    def _best(self, candidate: str, references: list[str]) -> float:
        first = self._read(candidate)
        scores = (self.formula(first, self._read(reference)) for reference in references)
        best: float = getattr(max(scores, key=lambda score: score.f1), self.direction)
        return best

    def matches(self, candidate: str, reference: str) -> Matches:
        """What the score counts."""
        if self.split is not None:
            of_first, of_second = self._sentences(candidate), self._sentences(reference)
            return Matches([*chain(*of_first)], [*chain(*of_second)], match_sentences(of_first, of_second))
        first, second = self._tokens(candidate), self._tokens(reference)
        if self.formula is rouge_l:
            return Matches([*first], [*second], match_in_order(first, second))
        one, other = ([" ".join(ngram) for ngram in ngrams(words, self.n)] for words in (first, second))
        return Matches(one, other, match_units(one, other))

    @property
    def _tokens(self) -> Callable[[str], tuple[str, ...]]:
        return tokenizer_of(self.tokenizer, self.stemmer, language_of(self.language))

    def _read(self, text: str) -> Sequence[str] | Sentences:
        return self._tokens(text) if self.split is None else self._sentences(text)

    def _sentences(self, text: str) -> Sentences:
        return sentences_of(text, self.split or "auto", self._tokens, language_of(self.language))

    def _unscorable(self, text: str) -> str | None:
        if len(self._tokens(text)) >= self.n:
            return None
        if self.tokenizer == "official" and len(words(text)) >= self.n:
            return "has too few tokens of a-z and 0-9 (language=CODE or tokenizer=unicode counts every script)"
        return f"has fewer than {self.n} tokens"


@dataclass(kw_only=True)
class RougeOptions(TokenizerOption, DirectionOption):
    """Options of ROUGE."""

    stemmer: bool | None = None
    """compare stems of the words; none: where NLTK has a stemmer of the language (Porter's for English)"""

    def __post_init__(self) -> None:
        stemmer_for("rouge", self.stemmer, self.language)

    def reward(self, name: str, formula: Callable[[Any, Any], PRF], n: int = 1, split: Split | None = None) -> Rouge:
        """The reward of a formula."""
        stemmer = stemmer_for(name, self.stemmer, self.language)
        tokenizer = self.tokenizer or ("official" if self.language in (None, "en") else splitter_of(self.language))
        return Rouge(name, formula, self.direction, stemmer, tokenizer, self.language, n, split)


@dataclass(kw_only=True)
class RougeSumOptions(RougeOptions):
    """Options of ROUGE-Lsum."""

    split: Split = "auto"
    """how a text is cut into sentences; auto: lines are sentences, a text of one line is split by spaCy"""


@takes(RougeOptions)
def rouge_1(options: RougeOptions) -> Rouge:
    """ROUGE-1: common words. Range [0, 1]."""
    return options.reward("rouge-1", partial(rouge_n, n=1))


@takes(RougeOptions)
def rouge_2(options: RougeOptions) -> Rouge:
    """ROUGE-2: common pairs of neighbouring words. Range [0, 1]; a reference of one word is undefined."""
    return options.reward("rouge-2", partial(rouge_n, n=2), n=2)


@takes(RougeOptions)
def rouge_3(options: RougeOptions) -> Rouge:
    """ROUGE-3: common runs of three words. Range [0, 1]; a reference of fewer than three words is undefined."""
    return options.reward("rouge-3", partial(rouge_n, n=3), n=3)


@takes(RougeOptions)
def rouge_longest(options: RougeOptions) -> Rouge:
    """ROUGE-L: the longest common subsequence of words over the whole text. Range [0, 1]."""
    return options.reward("rouge-l", rouge_l)


@takes(RougeSumOptions)
def rouge_longest_sum(options: RougeSumOptions) -> Rouge:
    """ROUGE-L summed over sentences (a text's lines, or spaCy's sentences of one line). Range [0, 1]."""
    return options.reward("rouge-lsum", rouge_lsum, split=options.split)
