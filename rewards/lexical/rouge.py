"""ROUGE (Lin 2004), equal to ``rouge-score`` bit for bit; many pairs are compared at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import chain
from operator import or_
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rewards.lexical.numbered import Counts, Numbered, Numbers, common, sizes
from rewards.lexical.subsequences import MOST, WORD, lcs_length, lcs_positions, many_positions, places
from rewards.lexical.words import Tokenizer, TokenizerOption, ngrams, stemmer_for, stemming, tokenizer_of, tokenizing
from rewards.options import takes
from rewards.scoring import HEADED, Direction, DirectionOption, Inputs, ReferenceReward, library, scorable, signature
from rewards.text import sentences as texts
from rewards.text.languages import Code, Language, language_of, splitter_of
from rewards.text.words import REMEMBERED, words

BLOCK = 2**10  # items compared at once
Tokens = Sequence[str]
Split = Literal["auto", "lines"]
Sentences = Sequence[tuple[str, ...]]


# ---- formulas of tokens ----


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean of n pairs: (n,) float64 in [0, 1]."""

    precision: Counts
    recall: Counts
    f1: Counts


def prf(hits: Counts, candidate: Numbers, reference: Numbers) -> PRF:
    """Precision, recall and F1 of ``hits`` common units among those of both sides (each at least 1)."""
    precision, recall = hits / candidate, hits / reference
    return PRF(precision, recall, 2 * precision * recall / np.where(hits > 0, precision + recall, 1))


def rouge_l(candidates: Sequence[Tokens], references: Sequence[Tokens]) -> PRF:
    """ROUGE-L of pairs: one longest common subsequence over the whole texts, given as tokens."""
    hits = np.fromiter(map(lcs_length, candidates, references), float, len(candidates))
    return prf(hits, sizes(candidates), sizes(references))


def rouge_n(candidates: Sequence[Tokens], references: Sequence[Tokens], n: int) -> PRF:
    """ROUGE-N of pairs of tokens: clipped n-gram matches. A candidate shorter than ``n`` has none and scores 0."""
    first, second = Numbered.of([*candidates, *references]).ngrams(n).split(len(candidates))
    return prf(common(first, second, len(candidates)), first.lengths.clip(1), second.lengths)


def rouge_lsum(candidates: Sequence[Sentences], references: Sequence[Sentences]) -> PRF:
    """ROUGE-L of pairs, summed over sentences, given as tokens (Lin 2004, section 3.2).

    A word of a reference sentence counts if it is in the common subsequence with any candidate sentence, but in total
    at most as often as in the candidate.
    """
    pairs = list(zip(candidates, references, strict=True))
    hits = np.fromiter((-1 if _fits(*pair) else _united_hits(*pair) for pair in pairs), float, len(pairs))
    rows = np.flatnonzero(hits < 0)
    if len(rows):
        hits[rows] = _many_united_hits(*zip(*(pairs[row] for row in rows), strict=True))
    totals = (np.array([sum(map(len, sentences)) for sentences in side]) for side in (candidates, references))
    return prf(hits, *totals)


def _fits(candidate: Sentences, reference: Sentences) -> bool:
    return max(map(len, candidate)) <= MOST and max(map(len, reference)) <= WORD


def _united_hits(candidate: Sentences, reference: Sentences) -> int:
    """The hits of one pair with sentences of any length."""
    united = Counter(sentence[place] for sentence in reference for place in places(_union(sentence, candidate)))
    return (united & Counter(chain.from_iterable(candidate))).total()


def _many_united_hits(candidates: Sequence[Sentences], references: Sequence[Sentences]) -> Counts:
    """The hits of many pairs: every sentence of a reference with every one of its candidate, 64 words a step."""
    cut, of_candidate, of_reference = sum(map(len, candidates)), sizes(candidates), sizes(references)
    sentences = Numbered.of([*chain(*candidates), *chain(*references)])
    ours, theirs = sentences.split(cut)
    text = np.repeat(np.arange(len(references)), of_reference)  # of each sentence of the references
    partners = of_candidate[text]
    starts = partners.cumsum() - partners
    first = np.repeat(np.arange(len(text)), partners)
    second = np.arange(len(first)) + np.repeat((of_candidate.cumsum() - of_candidate)[text] - starts, partners)
    united = np.bitwise_or.reduceat(many_positions(theirs, ours, first, second), starts)
    rows, place = np.nonzero(united[:, None] >> np.arange(WORD, dtype=np.uint64) & np.uint64(1))
    words = theirs.ids[(theirs.lengths.cumsum() - theirs.lengths)[rows] + place]
    counted = theirs._replace(ids=words, owners=text[rows])
    available = ours._replace(owners=np.repeat(np.arange(len(candidates)), of_candidate)[ours.owners])
    return common(counted, available, len(candidates))


def _union(sentence: Sequence[str], others: Iterable[Sequence[str]]) -> int:
    """The places in ``sentence``, as bits, that are in its longest common subsequence with any of ``others``."""
    return reduce(or_, (lcs_positions(sentence, other) for other in others), 0)


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
        for place in places(lcs_positions(candidate, reference))
    ]


def match_sentences(candidate: Sentences, reference: Sentences) -> list[tuple[int, int]]:
    """The words of the reference that `rouge_lsum` counts, and as many equal ones of the candidate."""
    words, united, start = [*chain(*reference)], [], 0
    for sentence in reference:
        united += [start + place for place in places(_union(sentence, candidate))]
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
        tokens = self._tokens
        read = tokens if self.split is None else self._sentences
        scores, left = scorable(self.name, inputs, lambda text: None if len(tokens(text)) >= self.n else "")
        for start in range(0, len(left), BLOCK):
            pairs = [
                (row, read(candidate), read(text))
                for row, candidate, usable in left[start : start + BLOCK]
                for text in usable
            ]
            rows, candidates, references = zip(*pairs, strict=True)
            measured = self.formula(candidates, references)
            order = np.lexsort((-measured.f1, rows))  # of references that are equally good the first
            in_order = np.array(rows)[order]
            best = order[np.diff(in_order, prepend=-1) > 0]
            scores[np.array(rows)[best]] = getattr(measured, self.direction)[best]
        return scores

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
        one, other = ([" ".join(ngram) for ngram in ngrams(words, self.n)] for words in (first, second))
        return Matches(one, other, match_units(one, other))

    @property
    def _tokens(self) -> Callable[[str], tuple[str, ...]]:
        return tokenizer_of(self.tokenizer, self.stemmer, language_of(self.language))

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
