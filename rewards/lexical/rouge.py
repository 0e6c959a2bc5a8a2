"""ROUGE (Lin 2004), on texts in NFC equal to ``rouge-score`` bit for bit; many pairs are compared at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from operator import or_
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rewards.lexical.numbered import BLOCK, Counts, Numbered, Numbers, common, first_of
from rewards.lexical.subsequences import MOST, WORD, lcs_positions, many_lengths, many_positions, places
from rewards.lexical.words import (
    Tokenizer,
    TokenizerOption,
    ngrams,
    stemmer_for,
    stemming,
    tokenizer_of,
    tokenizing,
    vocabulary_of,
)
from rewards.options import takes
from rewards.scoring import (
    HEADED,
    Direction,
    DirectionOption,
    Inputs,
    ReferenceReward,
    library,
    references_of,
    signature,
)
from rewards.text.languages import Code, language_of
from rewards.text.sentences import lined
from rewards.text.words import words

Split = Literal["auto", "lines"]
Sentences = Sequence[tuple[str, ...]]


# ---- formulas of pairs: n candidates and, behind them, their n references ----


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean of n pairs: (n,) float64 in [0, 1]."""

    precision: Counts
    recall: Counts
    f1: Counts


def prf(hits: Counts, candidate: Numbers, reference: Numbers) -> PRF:
    """Precision, recall and F1 of ``hits`` common units among those of both sides (each at least 1)."""
    precision, recall = hits / candidate, hits / reference
    return PRF(precision, recall, 2 * precision * recall / np.where(hits > 0, precision + recall, 1))


def rouge_l(pairs: Numbered) -> PRF:
    """ROUGE-L of pairs: one longest common subsequence over the whole texts."""
    candidates, references = pairs.halves()
    hits = many_lengths(references, candidates).astype(np.float64)
    return prf(hits, candidates.lengths, references.lengths)


def rouge_n(pairs: Numbered, n: int) -> PRF:
    """ROUGE-N of pairs, each text of at least ``n`` tokens: clipped n-gram matches."""
    first, second = pairs.ngrams(n).halves()
    return prf(common(first, second, len(first.lengths)), first.lengths, second.lengths)


def rouge_lsum(pairs: Numbered) -> PRF:
    """ROUGE-L of pairs, summed over sentences, which are lines (Lin 2004, section 3.2).

    A word of a reference sentence counts if it is in the common subsequence with any candidate sentence, but in total
    at most as often as in the candidate.
    """
    candidates, references = pairs.halves()
    hits, long = np.zeros(len(candidates.lengths)), np.zeros(len(candidates.lengths), dtype=bool)
    for side, most in ((candidates, MOST), (references, WORD)):
        sentences, text = side.sentences()
        long[text[sentences.lengths > most]] = True
    for row in np.flatnonzero(long).tolist():
        hits[row] = _united_hits(_lists(candidates, row), _lists(references, row))
    if len(short := np.flatnonzero(~long)):
        hits[short] = _many_united_hits(candidates.take(short), references.take(short))
    return prf(hits, candidates.lengths, references.lengths)


def _lists(texts: Numbered, row: int) -> list[list[int]]:
    """The sentences of one text."""
    sentences, text = texts.take(np.array([row])).sentences()
    return [sentences.words(number) for number in range(len(text))]


def _united_hits(candidate: Sequence[list[int]], reference: Sequence[list[int]]) -> int:
    """The hits of one pair with sentences of any length."""
    united = Counter(sentence[place] for sentence in reference for place in places(_union(sentence, candidate)))
    return (united & Counter(chain.from_iterable(candidate))).total()


def _many_united_hits(candidates: Numbered, references: Numbered) -> Counts:
    """The hits of many pairs: every sentence of a reference with every one of its candidate, 64 words a step."""
    (sentences, of_sentences), (targets, text) = candidates.sentences(), references.sentences()
    of_candidate = np.bincount(of_sentences, minlength=len(candidates.lengths))
    partners = of_candidate[text]
    starts = partners.cumsum() - partners
    first = np.repeat(np.arange(len(text)), partners)
    second = np.arange(len(first)) + np.repeat((of_candidate.cumsum() - of_candidate)[text] - starts, partners)
    united = np.bitwise_or.reduceat(many_positions(targets, sentences, first, second), starts)
    place = np.arange(len(targets.ids)) - (targets.lengths.cumsum() - targets.lengths)[targets.owners]
    counts = (united[targets.owners] >> place.astype(np.uint64) & np.uint64(1)).astype(bool)
    counted = references._replace(ids=references.ids[counts], owners=references.owners[counts])
    return common(counted, candidates, len(candidates.lengths))


def _union(sentence: Sequence[Hashable], sentences: Iterable[Sequence[Hashable]]) -> int:
    """The places in ``sentence``, as bits, that are in its longest common subsequence with any of ``sentences``."""
    return reduce(or_, (lcs_positions(sentence, partner) for partner in sentences), 0)


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
    tail = enumerate(reference)
    return [
        (place, next(position for position, word in tail if word == candidate[place]))
        for place in places(lcs_positions(candidate, reference))
    ]


def match_sentences(candidate: Sentences, reference: Sentences) -> list[tuple[int, int]]:
    """The words of the reference that `rouge_lsum` counts, and as many equal ones of the candidate."""
    words, united, start = [*chain(*reference)], [], 0
    for sentence in reference:
        united += [start + place for place in places(_union(sentence, candidate))]
        start += len(sentence)
    pairs = match_units([*chain(*candidate)], [words[place] for place in united])
    return [(place, united[at]) for place, at in pairs]


# ---- rewards of texts ----


@dataclass(eq=False, repr=False)
class Rouge(ReferenceReward):
    """One variant of ROUGE as a reward; see the functions below.

    ``formula`` compares texts, with ``split`` by their sentences; a reference needs at least ``n`` tokens.
    """

    name: str
    formula: Callable[[Numbered], PRF]
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
        candidates, references = inputs.candidates, references_of(self.name, inputs)
        blocks = (slice(start, start + BLOCK) for start in range(0, len(candidates), BLOCK))
        return np.concatenate([np.empty(0), *(self._block(candidates[some], references[some]) for some in blocks)])

    def _block(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        vocabulary = vocabulary_of(self.tokenizer, self.stemmer, language_of(self.language))
        texts = vocabulary.numbered((*map(self._lined, chain(candidates, *references)),))
        count = len(candidates)
        scores, usable = np.full(count, np.nan), texts.lengths >= self.n
        rows = np.repeat(np.arange(count), [*map(len, references)])
        scores[rows[usable[count:]]] = 0.0
        (scorable,) = np.nonzero(usable[count:] & usable[rows])
        measured = self.formula(texts.take(np.concatenate([rows[scorable], count + scorable])))
        best = first_of(rows[scorable], -measured.f1)
        scores[rows[scorable][best]] = getattr(measured, self.direction)[best]
        return scores

    def _lined(self, text: str) -> str:
        """The text with its sentences as lines."""
        return lined(text, language_of(self.language)) if self.split == "auto" else text

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

    def matches(self, candidate: str, reference: str) -> Matches:
        """What the score counts."""
        if self.split is not None:
            of_first, of_second = self._sentences(candidate), self._sentences(reference)
            return Matches([*chain(*of_first)], [*chain(*of_second)], match_sentences(of_first, of_second))
        first, second = self._tokens(candidate), self._tokens(reference)
        if self.formula is rouge_l:
            return Matches([*first], [*second], match_in_order(first, second))
        left, right = ([" ".join(ngram) for ngram in ngrams(words, self.n)] for words in (first, second))
        return Matches(left, right, match_units(left, right))

    @property
    def _tokens(self) -> Callable[[str], tuple[str, ...]]:
        return tokenizer_of(self.tokenizer, self.stemmer, language_of(self.language))

    def _sentences(self, text: str) -> Sentences:
        """The tokens of each sentence that has any."""
        return tuple(tokens for tokens in map(self._tokens, self._lined(text).split("\n")) if tokens)

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

    def reward(self, name: str, formula: Callable[[Numbered], PRF], n: int = 1, split: Split | None = None) -> Rouge:
        """The reward of a formula."""
        stemmer = stemmer_for(name, self.stemmer, self.language)
        usual = "official" if self.language in (None, "en") else language_of(self.language).splitter
        return Rouge(name, formula, self.direction, stemmer, self.tokenizer or usual, self.language, n, split)


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
