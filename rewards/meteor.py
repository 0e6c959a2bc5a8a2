"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007) by NLTK, with or without WordNet."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from rewards.errors import RewardError
from rewards.scoring import checked_references, library, score_items, signature, undefined_reason
from rewards.words import Words, stem, tokenizer_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Stages = Literal["exact", "exact-stem", "exact-stem-synonym"]


class Meteor:
    """METEOR of exact and stemmed words; of synonyms too only with stages=exact-stem-synonym. Range [0, 1]."""

    def __init__(
        self,
        stages: Stages = "exact-stem",
        tokenizer: Words = "unicode",
        alpha: float = 0.9,
        beta: float = 3.0,
        gamma: float = 0.5,
    ) -> None:
        for option, value in (("alpha", alpha), ("gamma", gamma)):
            if not 0 <= value <= 1:
                raise RewardError(f"meteor: {option}={value} must lie between 0 and 1")
        if beta <= 0:
            raise RewardError(f"meteor: beta={beta} must be above 0")
        if stages == "exact-stem-synonym":
            _wordnet()  # its data may be missing: say so now
        self.name = "meteor" if stages == "exact-stem-synonym" else f"meteor-{stages}"
        self.stages = stages
        self.tokenizer: Words = tokenizer
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1], the best of several references.

        0 for a candidate without a word, NaN where no reference has one. A text of m words with itself scores
        ``1 - gamma / m**beta``, the most that reference can give.
        """
        references = checked_references(self.name, candidates, references, sources)
        return score_items(candidates, references, self._nothing, self._best, floor=0.0)

    @property
    def signature(self) -> str:
        """Stages, parameters, tokenizer, and NLTK's version (with WordNet's, where it is read)."""
        fields: dict[str, Any] = {"stages": self.stages, "tokenizer": self.tokenizer}
        fields |= {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma, "library": library("nltk")}
        if self.stages == "exact-stem-synonym":
            fields["wordnet"] = _wordnet().get_version()
        return signature(self.name, **fields)

    def undefined(self, candidate: str, references: Sequence[str] | None = None) -> str | None:
        """Why the score is NaN: no reference with a word."""
        return undefined_reason(references, self._nothing)

    def units(self, text: str) -> Collection[Hashable] | None:
        """What two texts must have in common to score above 0: stems. None where synonyms match as well."""
        if self.stages == "exact-stem-synonym":
            return None
        return [word if self.stages == "exact" else stem(word) for word in self._words(text)]

    def _words(self, text: str) -> tuple[str, ...]:
        return tokenizer_of(self.tokenizer)(text)

    def _best(self, candidate: str, references: list[str]) -> float:
        from nltk.translate.meteor_score import meteor_score

        return meteor_score(
            [self._words(reference) for reference in references],
            self._words(candidate),
            preprocess=str,  # lower-cased already
            stemmer=_Unchanged if self.stages == "exact" else _Porter,
            wordnet=_wordnet() if self.stages == "exact-stem-synonym" else _NoSynonyms,
            alpha=self.alpha,
            beta=self.beta,
            gamma=self.gamma,
        )

    def _nothing(self, text: str) -> str | None:
        if self._words(text):
            return None
        return "is empty" if not text.strip() else "has no word"


class _Unchanged:
    """The stemmer of the exact stage alone."""

    stem = staticmethod(str)


class _Porter:
    """NLTK's Porter stemmer, its stems remembered."""

    stem = staticmethod(stem)


class _NoSynonyms:
    """The WordNet of the stages that read none."""

    @staticmethod
    def synsets(word: str) -> tuple[()]:
        """No synonyms of any word."""
        return ()


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        fix = "run 'python -m nltk.downloader wordnet', or use stages=exact-stem"
        raise RewardError(f"meteor: stages=exact-stem-synonym reads WordNet, which is not installed; {fix}") from error
    return wordnet
