"""Rewards for surface properties, to combine with content rewards.

``weighted(sms(vectors=v.txt)=1, length(high=60)=0.2, repetition=0.3)``: each is 1 for a text without fault and falls to
0. Words are those of the properties that validation logs: runs without white space, in scripts without spaces
characters, compared without letter case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.scoring import BaseReward, Inputs, Item, references_of, signature
from rewards.text.words import units

Unit = Literal["words", "reference"]


def within(length: float, low: float, high: float) -> float:
    """1 for ``low <= length <= high``; ``length / low`` below; above falling to 0 at ``2 high``. Lengths from 0."""
    if length < low:
        return length / low
    return max(0.0, 2.0 - length / high) if length > high else 1.0


def fresh_share(words: Sequence[str], n: int) -> float:
    """The share of the n-grams of ``words`` that do not repeat an earlier one; 1 if there is none."""
    count = len(words) - n + 1
    # A set of the tuples, never their list: a text of millions of words must fit into memory.
    return len(set(zip(*(words[start:] for start in range(n)), strict=False))) / count if count > 0 else 1.0


@dataclass(eq=False, repr=False)
class Length(BaseReward):
    """Length shaping: 1 for a candidate of ``low`` to ``high`` words, less outside this range.

    The score of n words is ``n / low`` below the range and ``max(0, 2 - n / high)`` above it, so 0 from ``2 high``
    words on. Range [0, 1]. Not from a paper.
    """

    name = "length"
    example: ClassVar[str] = "high=60"

    low: Annotated[float, Ge(0)] = 0.0
    """the lower end of the range"""
    high: Annotated[float, Gt(0)] | None = None
    """the upper end; none: no limit"""
    unit: Unit = "words"
    """words, or reference: the length of the reference, so that low=0.8 and high=1.2 allow a fifth less and a fifth
    more"""

    def __post_init__(self) -> None:
        if self.low == 0 and self.high is None:
            raise RewardError(
                "length: neither low nor high is given, so every text scores 1; give high=60 for instance"
            )
        if self.high is not None and self.high < self.low:
            raise RewardError(f"length: low={self.low:g}, high={self.high:g}: low must not be above high")

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]; 0 for an empty candidate.

        ``unit=words`` needs no references and is always defined. ``unit=reference`` takes the best of several
        references and is NaN if no reference has a word.
        """
        if self.unit == "words":
            return np.array([self._score(text, 1) for text in inputs.candidates], dtype=np.float64)
        rows = zip(inputs.candidates, references_of(self.name, inputs), strict=True)
        best = [max((self._score(text, unit) for unit in _lengths(texts)), default=np.nan) for text, texts in rows]
        return np.array(best, dtype=np.float64)

    @property
    def signature(self) -> str:
        """Limits and unit."""
        return signature(self.name, low=f"{self.low!r}", high=f"{self._high!r}", unit=self.unit)

    @property
    def _high(self) -> float:
        return float("inf") if self.high is None else self.high

    def reason(self, item: Item) -> str | None:
        """No reference has a word, so the unit is 0."""
        if self.unit == "words" or _lengths(item.references or ()):
            return None
        return "its reference is empty" if item.references else "it has no reference"

    def _score(self, text: str, unit: int) -> float:
        words = len(units(text))
        return within(words / unit, self.low, self._high) if words else 0.0


@dataclass(eq=False, repr=False)
class Repetition(BaseReward):
    """Repetition shaping: the share of the candidate's n-grams that do not repeat an earlier one.

    1 for a text that repeats none or has none. With n = 3 it is 1 minus the repetition that validation logs. Range
    [0, 1]. Reads no references. Not from a paper.
    """

    name = "repetition"

    n: Annotated[int, Ge(1)] = 3
    """words in an n-gram"""

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1], never NaN; 0 for an empty candidate. References and sources are not read."""
        words = [units(text) for text in inputs.candidates]
        return np.array([fresh_share(text, self.n) if text else 0.0 for text in words], dtype=np.float64)

    @property
    def signature(self) -> str:
        """The length of the n-grams."""
        return signature(self.name, n=self.n)


def _lengths(texts: Sequence[str]) -> list[int]:
    """The number of words of each text that has any."""
    return [words for words in (len(units(text)) for text in texts) if words]
