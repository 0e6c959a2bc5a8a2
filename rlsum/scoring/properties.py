"""Properties of a summary that reveal a reward gained by length, repetition, copying or invention.

A property is a function ``(candidate, source) -> float``, NaN where it is undefined. Tokens are runs without white
space, marks included where a tokenizer split them off, as in papers; in scripts without spaces they are characters
(``rewards.text.words.units``). Names are words of letters.
``PROPERTIES`` is the only list of them: validation logs, tables and learning curves read it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rewards.lexical.surface import fresh_share
from rewards.text import words as texts
from rewards.text.words import LETTERS, nfc, pattern

_WORD = rf"{LETTERS}(?:['\u2019-]{LETTERS})*+"
ASCII_WORD = re.compile("[A-Za-z]+(?:['-][A-Za-z]+)*")  # the same of ASCII, where ``re`` is faster

units = lru_cache(maxsize=2)(texts.units)  # of a candidate and its source, whose properties are measured one by one


def length(candidate: str, source: str) -> float:
    """Tokens in the candidate: 0 or more."""
    return float(len(units(candidate)))


def repetition(candidate: str, source: str) -> float:
    """Share of the candidate's trigrams that repeat an earlier one, 0 to 1; 0 for a candidate with no trigram."""
    return 1 - fresh_share(units(candidate), 3)


def novelty(candidate: str, source: str) -> float:
    """Share of bigrams that are not in the source, in any case (See et al. 2017, figure 6); NaN without any."""
    bigrams, of_source = pairwise(units(candidate)), set(pairwise(units(source)))
    return _share(bigram not in of_source for bigram in bigrams) if source else math.nan


def copy_rate(candidate: str, source: str) -> float:
    """Share of the tokens that occur in the source, in any case, 0 to 1; NaN for no token or an empty source."""
    of_source = set(units(source))
    return _share(token in of_source for token in units(candidate)) if source else math.nan


def invented_names(candidate: str, source: str) -> float:
    """Share of the capitalised words that are not in the source, in any case, 0 to 1.

    NaN for a candidate without capitalised words, as in a lower-cased corpus, or an unknown (empty) source.
    """
    named = names(candidate)
    of_source = {word.lower() for word in words(source)} if named else set()
    return _share(name.lower() not in of_source for name in named) if source else math.nan


def words(text: str) -> list[str]:
    """The runs of letters of a text, in order, with apostrophes and hyphens inside them."""
    matches: list[str] = (ASCII_WORD if text.isascii() else pattern(_WORD)).findall(nfc(text))
    return matches


def names(text: str) -> list[str]:
    """The capitalised words of a text, in order; the names, where only names are capitalised."""
    return [word for word in words(text) if word[0].isupper()]


@dataclass(frozen=True)
class Property:
    """A property and how it is shown: ``scale`` times the value with ``digits`` decimals, in ``unit``.

    Logs and JSON hold the unscaled value under ``name``. ``description``: a note for readers of a table, or "".
    ``curve``: whether the pictures of training show it.
    """

    name: str
    function: Callable[[str, str], float]
    unit: str
    description: str = ""
    scale: float = 1
    digits: int = 1
    curve: bool = True

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value, unscaled: a share is 0 to 1, a count 0 or more."""
        return (0.0, 1.0 if self.unit == "%" else math.inf)

    @property
    def title(self) -> str:
        """The name for readers."""
        return self.name.replace("-", " ")

    @property
    def label(self) -> str:
        """The name with its unit, for the head of a column or a panel."""
        return f"{self.title}, {self.unit}"


PROPERTIES: dict[str, Property] = {
    measure.name: measure
    for measure in (
        Property("length", length, "tokens"),
        Property("repetition", repetition, "%", "trigrams that repeat an earlier one", 100),
        Property("novelty", novelty, "%", "bigrams that are not in the article", 100, curve=False),
        Property("copy-rate", copy_rate, "%", "words that are in the article", 100, curve=False),
        Property(
            "invented-names",
            invented_names,
            "%",
            "capitalised words that are not in the article, in summaries with capitalised words",
            100,
            curve=False,
        ),
    )
}


def _share(flags: Iterable[bool]) -> float:
    listed = list(flags)
    return sum(listed) / len(listed) if listed else math.nan
