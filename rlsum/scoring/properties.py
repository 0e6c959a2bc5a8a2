"""What a summary is like, whatever its score: the properties that give a hacked reward away.

Each is a function ``(candidate, source) -> float`` of texts split on white space, NaN where it is undefined.
`PROPERTIES` names them all, so that validation can log every one and a table can show every one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def length(candidate: str, source: str) -> float:
    """Tokens in the candidate: 0 or more."""
    return float(len(candidate.split()))


def repetition(candidate: str, source: str) -> float:
    """Share of the candidate's trigrams that repeat an earlier one, 0 to 1; 0 for a candidate with no trigram."""
    trigrams = _ngrams(candidate.lower().split(), 3)
    return 1 - len(set(trigrams)) / len(trigrams) if trigrams else 0.0


def novelty(candidate: str, source: str) -> float:
    """Share of the candidate's bigrams that the source does not hold, 0 to 1 (See et al. 2017, figure 6).

    Letter case is ignored. NaN for a candidate with no bigram or an unknown (empty) source.
    """
    bigrams = _ngrams(candidate.lower().split(), 2)
    known = set(_ngrams(source.lower().split(), 2))
    return _share(bigram not in known for bigram in bigrams) if source else math.nan


def copy_rate(candidate: str, source: str) -> float:
    """Share of the candidate's tokens that occur in the source, 0 to 1: what is left is novel unigrams.

    Letter case is ignored. NaN for an empty candidate or an unknown (empty) source.
    """
    known = set(source.lower().split())
    return _share(token in known for token in candidate.lower().split()) if source else math.nan


def invented_names(candidate: str, source: str) -> float:
    """Share of the candidate's capitalised words that the source does not hold, 0 to 1.

    Letter case is ignored in the search, so that a word is no invention for opening a sentence.
    NaN for a candidate without capitalised words, as all are in a lower-cased corpus, or an unknown (empty) source.
    """
    found = names(candidate)
    if not found or not source:
        return math.nan
    known = {word.lower() for word in words(source)}
    return _share(name.lower() not in known for name in found)


def words(text: str) -> list[str]:
    """The runs of letters of a text, in order, with apostrophes and hyphens inside them."""
    return _WORD.findall(text)


def names(text: str) -> list[str]:
    """The capitalised words of a text, in order: in a corpus that is lower-cased but for names, the names."""
    return [word for word in words(text) if word[0].isupper()]


PROPERTIES: Mapping[str, Callable[[str, str], float]] = MappingProxyType(
    {
        "length": length,
        "repetition": repetition,
        "novelty": novelty,
        "copy-rate": copy_rate,
        "invented-names": invented_names,
    }
)


def _ngrams(tokens: list[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return sum(found) / len(found) if found else math.nan
