"""ROUGE of tokens (Lin 2004), equal to ``rouge-score`` bit for bit, with faster common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rewards.lexical.words import ngrams

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
