"""Tokens, stems and n-grams for the rewards that compare words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from rewards.text.chunks import tokens

Words = Literal["unicode", "spacy"]

REMEMBERED = 2**17
LATIN = re.compile("[a-z0-9]+")
WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=6)
def tokenizer_of(kind: Words | Literal["official"], stemmer: bool = False) -> Callable[[str], tuple[str, ...]]:
    """Text -> lower-cased tokens, words over three letters Porter-stemmed if asked. Remembers texts and stems.

    ``official`` is that of rouge-score, four times as fast: runs of a-z and 0-9, so text in another script has no
    token. ``unicode`` keeps letters and digits of every script. ``spacy`` has punctuation marks as tokens, too.
    """

    splitters: dict[str, Callable[[str], list[str]]] = {
        "official": lambda text: LATIN.findall(text.lower()),
        "unicode": lambda text: WORD.findall(text.lower()),
        "spacy": lambda text: [token.lower() for token in tokens(text)],
    }
    split = splitters[kind]

    @lru_cache(maxsize=REMEMBERED)
    def tokenize(text: str) -> tuple[str, ...]:
        return tuple(stem(word) if stemmer and len(word) > 3 else word for word in split(text))

    return tokenize


@lru_cache(maxsize=REMEMBERED)
def stem(word: str) -> str:
    """NLTK's Porter stem of a word."""
    return _porter()(word)


@lru_cache(maxsize=1)
def _porter() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer().stem


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of ``n`` words, in order."""
    return list(zip(*(words[start:] for start in range(n)), strict=False))
