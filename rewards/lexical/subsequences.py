"""Longest common subsequences of words, bit-parallel (Hyyro 2004): a row of the table is one integer.

If there are several, it is the one that rouge-score reads from its table, starting at the end: a match if the two
words are equal, else one word back in the second text if the table grew at this word of the first, else one back in the
first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rewards.lexical.numbered import Numbered, Numbers

Bits = NDArray[np.uint64]
WORD = 64  # bits
MOST = 256  # words of a second text: one step for all pairs costs more than it saves where few are that long
CELLS = 2**23  # of a table in memory


def lcs_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence; about 50 times as fast as the table in rouge-score."""
    rows = [(0, (1 << len(first)) - 1), *_lcs_rows(_positions(first), len(first), second)]
    return len(first) - rows[-1][1].bit_count()


def lcs_positions(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The positions in ``first`` of one longest common subsequence, as the bits of an integer."""
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


def places(bits: int) -> Iterator[int]:
    """The places of the bits that are 1, in order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _positions(words: Sequence[Hashable]) -> dict[Hashable, int]:
    """The positions of each word, as the bits of an integer."""
    positions: dict[Hashable, int] = {}
    for position, word in enumerate(words):
        positions[word] = positions.get(word, 0) | (1 << position)
    return positions


def _lcs_rows(positions: dict[Hashable, int], length: int, second: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Per word of ``second``: its positions in ``first``, and the positions at which its row of the table is level.

    The zeros of a row are where the length grows by one.
    """
    full = level = (1 << length) - 1
    for word in second:
        equal = positions.get(word, 0)
        matched = level & equal
        level = ((level + matched) | (level - matched)) & full
        yield equal, level


# ---- many pairs at once ----


def many_positions(firsts: Numbered, seconds: Numbered, first: Numbers, second: Numbers) -> Bits:
    """``lcs_positions`` of many pairs, (P,) uint64: row ``first[i]`` of one, row ``second[i]`` of the other.

    Those of ``firsts`` have 1 to WORD words, the others 1 to MOST.
    """
    rows = np.full((len(firsts.lengths), WORD), -1, dtype=np.int32)
    rows[np.arange(WORD) < firsts.lengths[:, None]] = firsts.ids
    ends, lengths = seconds.lengths.cumsum(), seconds.lengths[second]
    bits = np.zeros(len(first), dtype=np.uint64)
    order = np.argsort(-lengths, kind="stable")  # pairs of about as many steps together
    done = 0
    while done < len(order):
        steps = int(lengths[order[done]])
        some = order[done : done + max(1, CELLS // (WORD * steps))]
        back = np.arange(steps, 0, -1)
        words = seconds.ids[(ends[second[some], None] - back).clip(0)].astype(np.int32)
        words[back > lengths[some, None]] = -2  # a word in front that matches nothing changes nothing
        bits[some] = _positions_of(rows[first[some]], firsts.lengths[first[some]], words)
        done += len(some)
    return bits


def _positions_of(first: NDArray[np.int32], lengths: Numbers, second: NDArray[np.int32]) -> Bits:
    """``lcs_positions`` of ``first`` (P, WORD), padded behind its ``lengths``, and ``second`` (P, S), before it."""
    matches = np.packbits(second[:, :, None] == first[:, None, :], axis=-1, bitorder="little")
    equal = np.ascontiguousarray(matches.view("<u8")[..., 0].T).astype(np.uint64, copy=False)  # (steps, P)
    full = np.uint64(2**WORD - 1) >> (WORD - lengths).astype(np.uint64)
    levels, level = np.empty_like(equal), full
    for step, matching in enumerate(equal):
        matched = level & matching
        levels[step] = level = ((level + matched) | (level - matched)) & full
    subsequence, reach, one = np.zeros_like(full), full, np.uint64(1)
    for matching, level in zip(equal[::-1], levels[::-1], strict=True):
        last = _highest((matching | ~level) & reach)
        match = matching & last
        subsequence |= match
        reach = np.where(last > 0, (last | (last - one)) ^ match, 0)
    return subsequence


def _highest(bits: Bits) -> Bits:
    """The highest bit that is 1."""
    for shift in (1, 2, 4, 8, 16, 32):
        bits = bits | (bits >> np.uint64(shift))
    return bits ^ (bits >> np.uint64(1))
