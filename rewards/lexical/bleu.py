"""BLEU of one text (Papineni et al. 2002, by sacrebleu), and BLEU* (Ethayarajh and Sadigh 2020, Eq. 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from rewards.errors import RewardError, Unavailable
from rewards.lexical.numbered import BLOCK, first_of, matches
from rewards.lexical.words import Words, WordsOption, ngrams, tokenizer_of, tokenizing, vocabulary_of
from rewards.scoring import CorpusCounts, Inputs, ReferenceReward, references_of, score_items, signature
from rewards.text.languages import ENGLISH, LanguageOption, language_of
from rewards.text.words import REMEMBERED, nfc

Tokenize = Literal["auto", "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab"]
Smooth = Literal["exp", "floor", "add-k", "none"]
ZeroOrder = Literal["zero", "stop"]

ORDERS = 4


@dataclass(eq=False, repr=False, kw_only=True)
class Bleu(ReferenceReward, LanguageOption):
    """Sentence BLEU as computed by sacrebleu, divided by 100. Range [0, 1]."""

    name = "bleu"

    tokenize: Tokenize = "auto"
    """sacrebleu's tokenizer; auto: 13a, in languages without spaces zh (Chinese) or char"""
    smooth_method: Smooth = "exp"
    """sacrebleu's smoothing of orders without a match"""
    smooth_value: Annotated[float, Gt(0)] | None = None
    """of the smoothing, for floor and add-k"""
    effective_order: bool = True
    """leave out orders that a short text cannot have"""
    max_ngram_order: Annotated[int, Ge(1)] = 4
    """the longest n-grams that count"""
    lowercase: bool = False
    """ignore letter case"""

    def __post_init__(self) -> None:
        if self.smooth_value is not None and self.smooth_method not in ("floor", "add-k"):
            raise RewardError(f"bleu: smooth_value={self.smooth_value} needs smooth_method=floor or add-k")
        if self.tokenize == "auto":
            characters = language_of(self.language).splitter == "character"
            self.tokenize = "zh" if self.language == "zh" else "char" if characters else "13a"
        names = ("tokenize", "smooth_method", "smooth_value", "max_ngram_order", "effective_order", "lowercase")
        self.settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        _sacrebleu(**self.settings)  # raises now if the tokenizer needs a package that is not installed

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]; 0 for an empty candidate, NaN if no reference has a token.

        Several references count together, as in sacrebleu: each n-gram counts as often as in the reference with most of
        it, and the length is that of the reference closest in length.
        """
        counts, _ = self.corpus_counts(inputs)
        return np.array([self._of_counts(row, self.effective_order) for row in counts], dtype=np.float64)

    @property
    def heading(self) -> str:
        """`bleu 13a`, with `lower` for lower-cased texts."""
        return f"{self.name} {self.tokenize}{' lower' if self.lowercase else ''}"

    @property
    def signature(self) -> str:
        """The signature of sacrebleu, which names its version, and the n-gram order, which it does not name."""
        official = _sacrebleu(**self.settings)[1]
        smooth = "default" if self.smooth_value is None else f"{self.smooth_value!r}"  # sacrebleu shows two decimals
        fields: dict[str, object] = {} if self.language is None else {"language": self.language}
        fields |= {"scale": 1, "order": self.max_ngram_order, "smooth_value": smooth, "sacrebleu": f"[{official}]"}
        return signature(self.name, **fields)

    def corpus_counts(self, inputs: Inputs) -> CorpusCounts:
        """What BLEU of all texts together is made of, ``(n, 2 + 2 * order)``, and BLEU, in [0, 1], of the sum of rows.

        A row has the lengths of text and reference, the n-grams that match, and all; 0 without a reference that can be
        scored. BLEU of all is not the mean of the scores: an order without a match makes it 0 unless it is smoothed.
        """
        candidates, references = inputs.candidates, references_of(self.name, inputs)
        blocks = [slice(start, start + BLOCK) for start in range(0, len(candidates), BLOCK)]
        counts = [self._counts(candidates[some], references[some]) for some in blocks]
        return np.concatenate([np.empty((0, 2 + 2 * self.max_ngram_order)), *counts]), self._of_counts

    def _counts(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """What sacrebleu counts of each text by itself."""
        vocabulary, count, order = vocabulary_of("tokens", None, ENGLISH), len(candidates), self.max_ngram_order
        texts = vocabulary.numbered((*map(self._tokens, chain(candidates, *references)),))
        rows = np.repeat(np.arange(count), [*map(len, references)])
        (usable,) = np.nonzero(texts.lengths[count:])
        rows, pairs = rows[usable], texts.take(np.concatenate([rows[usable], count + usable]))
        lengths, reference_lengths = (side.lengths for side in pairs.halves())
        counts = np.zeros((count, 2 + 2 * order))
        closest = first_of(rows, reference_lengths, abs(lengths - reference_lengths))
        counts[rows[closest], 0], counts[rows[closest], 1] = lengths[closest], reference_lengths[closest]
        for n in range(1, order + 1):
            first, second = pairs.ngrams(n).halves()
            owners, ids, hits = matches(first, second)
            most = first_of(rows[owners] * max(first.size, 1) + ids, -hits)
            counts[:, 1 + n] = np.bincount(rows[owners[most]], hits[most], count)
            counts[rows, 1 + order + n] = first.lengths
        return counts

    def _of_counts(self, counts: NDArray[np.float64], effective_order: bool = False) -> float:
        """BLEU in [0, 1] of counts ``(2 + 2 * order,)`` that are summed over texts; NaN without a reference."""
        if not counts[1]:
            return float("nan")
        order = self.max_ngram_order
        length, reference, *ngram_counts = map(int, counts)
        options = {name: self.settings[name] for name in ("smooth_method", "smooth_value", "max_ngram_order")}
        score = _sacrebleu(**self.settings)[0].compute_bleu(
            ngram_counts[:order], ngram_counts[order:], length, reference, effective_order=effective_order, **options
        )
        return min(1.0, float(score.score) / 100)  # a geometric mean of ones can be larger than one by rounding

    def _tokens(self, text: str) -> str:
        """The tokens of a text with white space between them, as sacrebleu compares them."""
        tokens: str = _sacrebleu(**self.settings)[0]._preprocess_segment(nfc(text))
        return tokens

    def _unscorable(self, text: str) -> str | None:
        return None if self._tokens(text).split() else "has no token"


@lru_cache(maxsize=16)
def _sacrebleu(**options: Any) -> tuple[Any, str]:
    """sacrebleu's metric, and its signature for any number of references."""
    from sacrebleu.metrics import BLEU

    try:
        metric = BLEU(**options, force=True)  # no warning about texts that look tokenized
    except RuntimeError as error:  # what sacrebleu raises where a tokenizer's package is missing
        tokenize = options["tokenize"]
        fix = f"run 'pip install sacrebleu[{tokenize[:2]}]'"
        raise Unavailable(f"bleu: tokenize={tokenize} needs a package that is not installed; {fix}") from error
    if options["tokenize"] == "13a":
        metric.tokenizer._post_tokenizer = _by_chunk(metric.tokenizer._post_tokenizer)
    metric.corpus_score(["a", "a"], [["a", "a"], ["a", None]])  # type: ignore[list-item] # leaves nrefs:var in
    return metric, str(metric.get_signature())


def _by_chunk(tokenizer: Callable[[str], str]) -> Callable[[str], str]:
    """The last step of 13a, which no white space changes, from chunks without any, which are remembered."""
    chunk = lru_cache(maxsize=REMEMBERED)(lambda chunk: tokenizer(f" {chunk} "))
    return lambda line: " ".join(map(chunk, line.split()))


def bleu_star(
    hits: NDArray[np.float64], length: int, lengths: NDArray[np.float64], zero_order: ZeroOrder
) -> NDArray[np.float64]:
    """BLEU* of one candidate of ``length`` words (at least 1) with ``m`` other texts of ``lengths`` words, ``(m,)``.

    ``hits (4, m)``: how many of its 1- to 4-grams each text contains. The score, in [0, 1], is the third root of the
    product of the shares of its 2-, 3- and 4-grams that are hits, times ``exp(min(0, 1 - lengths / length))``. If an
    order has no hit, the product is 0 (``zero``, as printed) or leaves out this order and higher ones (``stop``). 0
    without a common word.
    """
    product, going = np.ones(lengths.shape), np.ones(lengths.shape, dtype=bool)
    for n in range(2, ORDERS + 1):
        share = hits[n - 1] / max(length - n + 1, 1)  # a candidate too short for the order has no hits in it
        if zero_order == "stop":
            going &= share > 0
            share = np.where(going, share, 1.0)
        product *= share
    penalty = np.exp(np.minimum(0.0, 1.0 - lengths / length))
    return np.where(hits[0] > 0, np.minimum(1.0, penalty * np.cbrt(product)), 0.0)


@dataclass(eq=False, repr=False, kw_only=True)
class BleuStar(ReferenceReward, WordsOption):
    """BLEU*: the 2- to 4-grams of the candidate found in a reference, without single words. Range [0, 1]."""

    name = "bleu-star"

    zero_order: ZeroOrder = "zero"
    """an order of n-grams without a match makes the score 0 (as printed), or ends the product (stop)"""
    clip: bool = False
    """count an n-gram at most as often as it occurs in the reference"""

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1], the best of several references; 0 for an empty candidate.

        NaN if no reference has enough words: one or, with ``zero_order=zero``, four.
        """
        return score_items(self.name, inputs, self._unscorable, self._best)

    @property
    def signature(self) -> str:
        """The treatment of orders without a match, clipping, the tokenizer and the language."""
        fields = {"zero_order": self.zero_order, "clip": self.clip}
        return signature(self.name, **fields, **tokenizing(self._splitter, self.language))

    @property
    def _splitter(self) -> Words:
        return self.tokenizer or language_of(self.language).splitter

    def words(self, text: str) -> tuple[str, ...]:
        """The words that are counted and compared."""
        return tokenizer_of(self._splitter, None, language_of(self.language))(text)

    def _best(self, candidate: str, references: list[str]) -> float:
        words, texts = self.words(candidate), [self.words(text) for text in references]
        hits = np.array([[self._hits(words, text, n) for text in texts] for n in range(1, ORDERS + 1)], dtype=float)
        lengths = np.array([len(reference) for reference in texts], dtype=float)
        return float(bleu_star(hits, len(words), lengths, self.zero_order).max())

    def _hits(self, words: Sequence[str], reference: Sequence[str], n: int) -> int:
        first, second = ngrams(words, n), ngrams(reference, n)
        if self.clip:
            return (Counter(first) & Counter(second)).total()
        return sum(map(set(second).__contains__, first))

    def _unscorable(self, text: str) -> str | None:
        words, needed = len(self.words(text)), ORDERS if self.zero_order == "zero" else 1
        return None if words >= needed else f"has {words} words, fewer than {needed}"
