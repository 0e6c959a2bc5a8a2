"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), equal to NLTK's, with or without WordNet.

The alignment is that of NLTK, which is in common use, not that of the paper. The paper chooses the alignment with the
fewest crossings among the largest. NLTK goes from the last word to the first and takes the last equal word that is
free, so repeated words can give more chunks. NLTK also looks up synonyms of stems, not of words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from rewards.errors import RewardError, Unavailable
from rewards.lexical.words import Words, WordsOption, stemmer_for, stemming, stems, tokenizer_of, tokenizing
from rewards.options import takes
from rewards.scoring import Inputs, ReferenceReward, score_items, signature
from rewards.text.languages import language_of
from rewards.text.words import REMEMBERED

Stages = Literal["exact", "exact-stem", "exact-stem-synonym"]

Units = dict[int, str]  # position -> word or stem, in order
Names = Callable[[str], Collection[str]]  # a word or stem -> the words or stems that match it


def meteor(
    candidate: Sequence[str],
    reference: Sequence[str],
    stages: Stages,
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    stemmer: str = "porter",
) -> float:
    """METEOR of two lists of lower-cased words, in [0, 1]: ``(1 - gamma * (chunks / matches)**beta) * F``.

    ``F`` is the harmonic mean of precision and recall, recall weighted by ``alpha``. 0 without a match.
    """
    pairs = align(candidate, reference, stages, stemmer)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(candidate), len(pairs) / len(reference)
    mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * (chunks(pairs) / len(pairs)) ** beta) * mean


def align(
    candidate: Sequence[str], reference: Sequence[str], stages: Stages, stemmer: str = "porter"
) -> list[tuple[int, int]]:
    """Pairs of positions ``(in candidate, in reference)``, in order. Each stage matches what earlier stages left."""
    left, right = dict(enumerate(candidate)), dict(enumerate(reference))
    pairs = _matches(left, right)
    if stages != "exact":
        stem = stems(stemmer)
        left, right = ({position: stem(word) for position, word in units.items()} for units in (left, right))
        pairs += _matches(left, right)
    if stages == "exact-stem-synonym":
        pairs += _matches(left, right, _synonyms)
    return sorted(pairs)


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """The number of runs that are contiguous on both sides; ``pairs`` is in order and not empty."""
    return 1 + sum(after != (first + 1, second + 1) for (first, second), after in pairwise(pairs))


def _matches(left: Units, right: Units, names: Names = lambda unit: (unit,)) -> list[tuple[int, int]]:
    """Match greedily from the last position to the first; removes the matches from both sides."""
    free: dict[str, list[int]] = {}
    for position, unit in right.items():
        free.setdefault(unit, []).append(position)
    pairs = []
    for position in reversed(left):
        matches = [free[name] for name in names(left[position]) if free.get(name)]
        if matches:
            pairs.append((position, max(matches, key=itemgetter(-1)).pop()))
    for first, second in pairs:
        del left[first], right[second]
    return pairs


@lru_cache(maxsize=REMEMBERED)
def _synonyms(unit: str) -> frozenset[str]:
    """The one-word lemmas of all WordNet senses of ``unit``, and itself."""
    lemmas = (lemma.name() for sense in _wordnet().synsets(unit) for lemma in sense.lemmas())
    return frozenset(name for name in lemmas if "_" not in name) | {unit}


@dataclass(kw_only=True)
class MeteorOptions(WordsOption):
    """Options of METEOR."""

    stages: Stages | None = None
    """how words are matched; none: exact-stem where NLTK has a stemmer of the language, else exact"""
    alpha: Annotated[float, Ge(0), Le(1)] = 0.9
    """weight of recall against precision"""
    beta: Annotated[float, Gt(0)] = 3.0
    """exponent of the penalty for fragments"""
    gamma: Annotated[float, Ge(0), Le(1)] = 0.5
    """the largest penalty for fragments"""


@takes(MeteorOptions)
class Meteor(ReferenceReward):
    """METEOR of exact and stemmed words; of synonyms too only with stages=exact-stem-synonym. Range [0, 1]."""

    def __init__(self, options: MeteorOptions) -> None:
        stages, self.language = options.stages, options.language
        if stages == "exact-stem-synonym":
            if self.language not in (None, "en"):
                raise RewardError(f"meteor: stages={stages}: WordNet is English, not language={self.language}")
            _wordnet()  # raises now if its data are missing
        wanted = None if stages is None else stages != "exact"
        self.stemmer = stemmer_for("meteor", wanted, self.language, f"stages={stages}") or ""
        self.stages: Stages = stages or ("exact-stem" if self.stemmer else "exact")
        self.name = "meteor" if stages == "exact-stem-synonym" else f"meteor-{self.stages}"
        self.tokenizer: Words = options.tokenizer or language_of(self.language).splitter
        self.alpha, self.beta, self.gamma = options.alpha, options.beta, options.gamma

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1], the best of several references.

        0 for a candidate without a word, NaN if no reference has one. A text of m words scores
        ``1 - gamma / m**beta`` with itself, the highest score for that reference.
        """
        return score_items(self.name, inputs, self._unscorable, self._best)

    @property
    def signature(self) -> str:
        """Stages, parameters, tokenizer, language, and NLTK's version (with WordNet's, where it is read)."""
        fields: dict[str, Any] = {"stages": self.stages, **tokenizing(self.tokenizer, self.language)}
        fields |= {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma, **stemming(self.stemmer or None)}
        if self.stages == "exact-stem-synonym":
            fields["wordnet"] = _wordnet().get_version()
        return signature(self.name, **fields)

    def units(self, text: str) -> Sequence[Hashable] | None:
        """The stems (or words) of a text: without a common one, two texts score 0. None if synonyms match, too."""
        if self.stages == "exact-stem-synonym":
            return None
        words = self._words(text)
        return words if self.stages == "exact" else [*map(stems(self.stemmer), words)]

    def ceiling(
        self, common: NDArray[np.float64], candidate: int, reference: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The highest score of texts with so many units (``candidate`` at least 1), ``common`` of them shared."""
        return common / (self.alpha * reference.clip(1) + (1 - self.alpha) * candidate)

    def _words(self, text: str) -> tuple[str, ...]:
        return tokenizer_of(self.tokenizer, None, language_of(self.language))(text)

    def _best(self, candidate: str, references: list[str]) -> float:
        words, parameters = self._words(candidate), (self.alpha, self.beta, self.gamma, self.stemmer)
        return max(meteor(words, self._words(reference), self.stages, *parameters) for reference in references)

    def _unscorable(self, text: str) -> str | None:
        return None if self._words(text) else "has no word"


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        fix = "run 'python -m nltk.downloader wordnet', or use stages=exact-stem"
        raise Unavailable(f"meteor: stages=exact-stem-synonym reads WordNet, which is not installed; {fix}") from error
    return wordnet
