"""Longest common subsequences of words, bit-parallel (Hyyro 2004): a row of the table is one integer.

If there are several, it is the one that rouge-score reads from its table, starting at the end: a match if the two
words are equal, else one word back in the second text if the table grew at this word of the first, else one back in the
first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import isqrt

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rewards.lexical.numbered import Ids, Numbered, Numbers

Bits = NDArray[np.uint64]
WORD = 64  # bits
MOST = 256  # words of a text: one step for all pairs costs more than it saves where few are that long
CELLS = 2**20  # of a table: in the processor's cache
STRIP = 2**14  # columns of a long pair's table that are computed together
ROWS = 2**12  # of a table that are kept at once


def lcs_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence; about 50 times as fast as the table in rouge-score.

    Of a long ``first``, STRIP columns at a time, so that memory grows with the texts, not with their product.
    """
    carries, length = bytearray(len(second)), 0  # from a strip to the next one, a row
    for start in range(0, len(first), STRIP):
        strip = first[start : start + STRIP]
        positions, full = _positions(strip), (1 << len(strip)) - 1
        level = full
        for row, word in enumerate(second):
            equal, carry = positions.get(word, 0), carries[row]
            if equal or carry:
                matched = level & equal
                total = level + matched + carry
                carries[row] = total > full
                level = (total | (level - matched)) & full
        length += len(strip) - level.bit_count()
    return length


def lcs_positions(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The positions in ``first`` of one longest common subsequence, as the bits of an integer.

    Of a long ``second``, the table is kept at some rows, and those between are made again on the way back.
    """
    positions = _positions(first)
    if positions.keys().isdisjoint(second):
        return 0
    subsequence, reach = 0, (1 << len(first)) - 1
    size = max(ROWS, isqrt(len(second)))
    blocks, levels = [second[start : start + size] for start in range(0, len(second), size)], [reach]
    for block in blocks[:-1]:
        levels.append(deque(_lcs_rows(positions, levels[-1], reach, block), 1)[0][1])
    full = reach
    for block, before in zip(reversed(blocks), reversed(levels), strict=True):
        for equal, level in reversed(list(_lcs_rows(positions, before, full, block))):
            last = 1 << ((equal | ~level) & reach).bit_length() >> 1  # the last position in reach that matches or grew
            if not last:
                return subsequence
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


def _lcs_rows(
    positions: dict[Hashable, int], level: int, full: int, second: Iterable[Hashable]
) -> Iterator[tuple[int, int]]:
    """Per word of ``second``: its positions in the first text, and those at which its row of the table is level.

    The zeros of a row are where the length grows by one. ``level``: the row before; ``full``: a row of ones.
    """
    for word in second:
        equal = positions.get(word, 0)
        matched = level & equal
        level = ((level + matched) | (level - matched)) & full
        yield equal, level


# ---- many pairs at once ----


def many_lengths(firsts: Numbered, seconds: Numbered) -> Numbers:
    """``lcs_length`` of pairs of texts, (n,): row i of one, row i of the other. Each has a word."""
    rows = np.arange(len(firsts.lengths))
    lengths = np.zeros(len(rows), dtype=np.int64)
    long = np.maximum(firsts.lengths, seconds.lengths) > MOST
    for row in rows[long]:
        lengths[row] = lcs_length(firsts.words(row), seconds.words(row))
    for some, equal in _alike(firsts, seconds, rows[~long], rows[~long]):
        levels = np.full(equal.shape[1:], 2**WORD - 1, dtype=np.uint64)  # (lanes, pairs), the lowest bits first
        for matching in equal:
            carry = np.zeros(len(some), dtype=np.uint64)
            matched = levels & matching
            unmatched = levels - matched
            for lane, added in enumerate(matched):
                total = levels[lane] + added
                sum_ = total + carry
                carry = ((total < added) | (sum_ < total)).astype(np.uint64)
                levels[lane] = sum_ | unmatched[lane]
        lengths[rows[~long][some]] = np.bitwise_count(~levels).sum(axis=0, dtype=np.int64)
    return lengths


def many_positions(firsts: Numbered, seconds: Numbered, first: Numbers, second: Numbers) -> Bits:
    """``lcs_positions`` of many pairs, (P,) uint64: row ``first[i]`` of one, row ``second[i]`` of the other.

    Those of ``firsts`` have 1 to WORD words, the others 1 to MOST.
    """
    bits = np.zeros(len(first), dtype=np.uint64)
    for some, equal in _alike(firsts, seconds, first, second):
        bits[some] = _positions_of(equal[:, 0])
    return bits


def _alike(firsts: Numbered, seconds: Numbered, first: Numbers, second: Numbers) -> Iterator[tuple[Numbers, Bits]]:
    """Pairs of about equal lengths: which, and the places in the first of each word of the second, as bits.

    The bits are (steps, lanes, pairs): words of the second, 64 places of the first a lane.
    """
    lengths, steps_of = firsts.lengths[first], seconds.lengths[second]
    ids, other_ids = np.pad(firsts.ids, (0, MOST)), np.pad(seconds.ids, (MOST, 0))  # around the last and first text
    starts, ends = firsts.starts[first], seconds.starts[second] + steps_of + MOST
    lanes_of = -(-lengths // (WORD // 2))  # halves
    order = np.lexsort((-steps_of, lanes_of))
    done = 0
    while done < len(order):
        halves, steps = int(lanes_of[order[done]]), int(steps_of[order[done]])
        width = halves * WORD // 2
        some = order[done : done + max(1, CELLS // (width * steps))]
        some = some[: np.searchsorted(lanes_of[some], halves, side="right")]
        done += len(some)
        words = _padded(ids, starts[some], width, np.arange(width) >= lengths[some, None], -1)
        unused = np.arange(-steps, 0) < -steps_of[some, None]
        partners = _padded(other_ids, ends[some] - steps, steps, unused, -2)
        matches = np.packbits(partners[:, :, None] == words[:, None, :], axis=-1, bitorder="little")
        equal = np.zeros((len(some), steps, -(-halves // 2) * 2), dtype="<u4")
        equal[..., :halves] = matches.view("<u4")
        yield some, np.ascontiguousarray(equal.view("<u8").transpose(1, 2, 0)).astype(np.uint64, copy=False)


def _padded(ids: Ids, starts: Numbers, width: int, unused: NDArray[np.bool_], padding: int) -> Ids:
    """``width`` words from ``starts`` on, (rows, width), ``padding``, which matches nothing, where ``unused``."""
    words: Ids = sliding_window_view(ids, width)[starts]
    np.copyto(words, padding, where=unused)
    return words


def _positions_of(equal: Bits) -> Bits:
    """``lcs_positions`` of pairs, from the places in the first of each word of the second."""
    bit = np.uint64(1)
    level = reach = np.full(equal.shape[1], 2**WORD - 1, dtype=np.uint64)  # beyond the first they stay 1
    levels, subsequence = np.empty_like(equal), np.zeros_like(level)
    for step, matching in enumerate(equal):
        matched = level & matching
        levels[step] = level = (level + matched) | (level - matched)
    for matching, level in zip(equal[::-1], levels[::-1], strict=True):
        last = _highest((matching | ~level) & reach)
        match = matching & last
        subsequence |= match
        reach = reach & ((last - bit) | (last ^ match))  # without any it stays, and has none in the rows before either
    return subsequence


def _highest(bits: Bits) -> Bits:
    """The highest bit that is 1; 0 of 0."""
    alone = bits & ~(bits >> np.uint64(1))  # without neighbours, so that none is rounded up to the next power of two
    exponent = alone.astype(np.float64).view(np.uint64) >> np.uint64(52)
    return np.uint64(1) << (exponent - np.uint64(1023))  # beyond 63 bits there is none
