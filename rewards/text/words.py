"""What counts as a word, in every script: the one definition of the package.

A text is normalised to NFC, so that composed and decomposed letters are equal. A word is a letter or digit with the
letters, digits, marks and joiners (ZWJ, ZWNJ) that follow; apostrophes, hyphens, underscores and emoji are not in
words. Scripts that do not separate words by spaces (Han, Kana, Thai, Lao, Khmer, Burmese and their like) give a word a
character with its marks. Arabic tatweel, which only stretches a word, and soft hyphens are left out.

Full-width letters, digits of another script and letters without their vowel signs are other words: NFC keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from unicodedata import normalize

from rewards.scoring import library
from rewards.text.languages import Splitter

# Entries of a cache of texts or words: of a training set across its epochs, of outputs across metrics. A summary
# takes about 1 KB, a chunk with its tokens about 200 bytes.
REMEMBERED = 2**17
RUN = re.compile(r"[^\W_]+")  # the words of text without a mark, a joiner, or a letter beyond Latin's
BEYOND = re.compile("[\u00ad\u0300-\u1fff\u200c\u200d\u2071-\U0010ffff]")
LEFT_OUT = dict.fromkeys(map(ord, "\u0640\u00ad"))  # tatweel, soft hyphen
JOINERS = "\u200c\u200d"
# Letters and digits of scripts without spaces; a sign of several scripts, such as the Japanese long vowel, counts.
UNSPACED = (
    r"[[\p{L}\p{N}]&&[\p{sc=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Bopomofo}\p{sc=Tangut}\p{sc=Nushu}"
    r"\p{sc=Khitan_Small_Script}\p{Line_Break=Complex_Context}]]"
)
MARKS = rf"\p{{M}}{JOINERS}"


def _words_of(first: str) -> str:
    """Words that begin with, and but for marks hold, characters of a class."""
    unspaced, spaced = f"[{first}&&{UNSPACED}]", f"[{first}--{UNSPACED}]"
    return f"{unspaced}[{MARKS}]*+|{spaced}[[{first}{MARKS}]--{UNSPACED}]*+"


WORD = _words_of(r"[\p{L}\p{N}]")
LETTER_WORD = _words_of(r"\p{L}")
LETTERS = rf"\p{{L}}[\p{{L}}{MARKS}]*+"  # of words in any script
CHARACTER = rf"[\p{{L}}\p{{N}}][{MARKS}]*+"
# Text in languages without spaces: such a character; a run of others, with marks inside it (3.5, COVID-19); a mark.
SPACED = rf"[[\p{{L}}\p{{N}}]--{UNSPACED}][[\p{{L}}\p{{N}}{MARKS}]--{UNSPACED}]*+"
PIECE = rf"{UNSPACED}[{MARKS}]*+|{SPACED}(?:[.,:'\u2019\uff0e-]{SPACED})*+|\s+|."


def nfc(text: str) -> str:
    """``text`` with composed letters (NFC)."""
    return text if text.isascii() else normalize("NFC", text)


def words(text: str, splitter: Splitter = "unicode") -> list[str]:
    """The words of a text in its order, case kept; with ``character`` each letter and digit with its marks."""
    text = nfc(text)
    if splitter == "unicode" and not BEYOND.search(text):  # four times as fast
        return RUN.findall(text)
    matches: list[str] = pattern(WORD if splitter == "unicode" else CHARACTER).findall(text.translate(LEFT_OUT))
    return matches


def is_letters(word: str) -> bool:
    """Whether a word is of letters, with their marks, alone."""
    return word.isalpha() or (not word.isascii() and pattern(LETTERS).fullmatch(word) is not None)


def splitting() -> dict[str, object]:
    """What a signature says of words: the version of the library that knows the letters of every script."""
    return {"words": library("regex")}


def units(text: str) -> list[str]:
    """The tokens of a text that may be tokenised already: runs without white space, lower-cased, in NFC.

    Marks that a tokenizer split off are tokens, as in figures of papers. A run in a script without spaces falls into
    its words.
    """
    text = nfc(text).lower()
    runs = text.split()
    if not _is_unspaced(text):
        return runs
    return [unit for run in runs for unit in (words(run) if _is_unspaced(run) else [run])]


def runs(text: str) -> list[str]:
    """Runs with and without white space, in a script without spaces ``pieces``: together they are the text."""
    matches = re.findall(r"\s+|\S+", text)
    return [piece for run in matches for piece in (pieces(run) if _is_unspaced(run) else [run])]


def _is_unspaced(text: str) -> bool:
    return not text.isascii() and pattern(UNSPACED).search(text) is not None


def pieces(text: str) -> list[str]:
    """A text in a language without spaces as words, marks and white space: together they are the text."""
    return pattern(PIECE).findall(text)


def joined(pieces: Iterable[str]) -> str:
    """The text of words and marks in a language without spaces: spaces are before words of other scripts alone."""
    starts = pattern(SPACED).match
    text, spaced = "", False
    for piece in pieces:
        begins = starts(piece) is not None
        text += " " + piece if spaced and begins else piece
        spaced = begins or piece in ",.;:!?%"
    return text


@lru_cache(maxsize=8)
def pattern(written: str) -> Any:
    """A compiled expression that may name classes of Unicode."""
    import regex

    return regex.compile(written, regex.V1 | regex.DOTALL)
