"""Lower-cased tokens, stems and n-grams for the rewards that compare words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from rewards.errors import RewardError
from rewards.lexical.numbered import Vocabulary
from rewards.scoring import library
from rewards.text.chunks import tokens
from rewards.text.languages import ENGLISH, Code, Language, LanguageOption, language_of
from rewards.text.words import REMEMBERED, nfc, splitting, words

Words = Literal["unicode", "character", "spacy"]
Tokenizer = Literal["official", "unicode", "character"]
Tokens = Callable[[str], tuple[str, ...]]

LATIN = b"abcdefghijklmnopqrstuvwxyz0123456789"
NO_LATIN = bytes(byte if byte in LATIN + b"\n" else ord(" ") for byte in range(256))


@dataclass(kw_only=True)
class TokenizerOption(LanguageOption):
    """The option of ROUGE."""

    tokenizer: Tokenizer | None = None
    """official: runs of a-z and 0-9, as in rouge-score; unicode: words of every script; character: letters and digits;
    none: by the language"""


@dataclass(kw_only=True)
class WordsOption(LanguageOption):
    """The option of BLEU* and METEOR."""

    tokenizer: Words | None = None
    """unicode: words of every script; character: letters and digits; spacy: spaCy's tokens, punctuation too; none: by
    the language"""


@lru_cache(maxsize=8)
def tokenizer_of(kind: Words | Literal["official"], stemmer: str | None = None, language: Language = ENGLISH) -> Tokens:
    """Text -> lower-cased tokens, those over three letters stemmed by NLTK's ``stemmer``. Remembers texts and stems.

    ``official`` is that of rouge-score, four times as fast: runs of a-z and 0-9, so text in another script has no
    token. ``unicode`` and ``character`` are the words of ``rewards.text.words``. ``spacy`` has punctuation marks as
    tokens, too.
    """
    split, form = _splitter(kind, language), str if stemmer is None else stems(stemmer, 4)
    return lru_cache(maxsize=REMEMBERED)(lambda text: tuple(map(form, split(text))))


def _splitter(kind: Words | Literal["official"], language: Language) -> Callable[[str], Sequence[str]]:
    splitters: dict[str, Callable[[str], Sequence[str]]] = {
        "official": lambda text: _latin(text).decode().split(),
        "unicode": lambda text: words(language.lower(nfc(text)), "unicode"),
        "character": lambda text: words(language.lower(nfc(text)), "character"),
        "spacy": lambda text: [language.lower(token) for token in tokens(text, language)],
    }
    return splitters[kind]


def _latin(text: str) -> bytes:
    """Lower-cased, with a space for all but a-z, 0-9 and line ends."""
    return nfc(text).lower().encode("ascii", "replace").translate(NO_LATIN)


_vocabularies: dict[tuple[str, str | None, Language], Vocabulary] = {}


def vocabulary_of(kind: Tokenizer | Literal["tokens"], stemmer: str | None, language: Language) -> Vocabulary:
    """The tokens of ``tokenizer_of`` as numbers; ``tokens`` are those between the spaces of a line.

    A full vocabulary is left for an empty one: compare texts of one call.
    """
    key = kind, stemmer, language
    vocabulary = _vocabularies.get(key)
    if vocabulary is None or vocabulary.size >= REMEMBERED:
        vocabulary = _vocabularies[key] = _vocabulary(kind, str if stemmer is None else stems(stemmer, 4), language)
    return vocabulary


def _vocabulary(kind: Tokenizer | Literal["tokens"], form: Callable[[str], str], language: Language) -> Vocabulary:
    if kind == "tokens":
        return Vocabulary(str.split, form, "\n")
    if kind == "official":
        latin: Callable[[str], list[bytes]] = lambda text: _latin(text).replace(b"\n", b" . ").split()  # noqa: E731
        return Vocabulary(latin, lambda word: form(word.decode()), b".")
    split = _splitter(kind, language)
    return Vocabulary(lambda text: [word for line in text.split("\n") for word in (*split(line), ".")][:-1], form, ".")


@lru_cache(maxsize=8)
def stems(stemmer: str, least: int = 0) -> Callable[[str], str]:
    """A word -> its stem by NLTK's ``stemmer``: ``porter``, or the name of a language of Snowball's.

    A word with fewer than ``least`` letters, or of digits, is its own.
    """
    return _Stems(stemmer, least).__getitem__


class _Stems(dict[str, str]):
    """Words and their stems; fills itself, which is faster than a function that remembers."""

    def __init__(self, stemmer: str, least: int) -> None:
        self.stemmer, self.least = stemmer, least

    def __missing__(self, word: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        itself = len(word) < self.least or word.isdecimal()
        self[word] = stem = word if itself else _stemmer(self.stemmer)(word)
        return stem


@lru_cache(maxsize=8)
def _stemmer(name: str) -> Callable[[str], str]:
    if name == "porter":
        return _porter().PorterStemmer().stem
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name).stem


def _porter() -> Any:
    """The module ``nltk.stem.porter`` without the packages around it, whose import takes a second and more."""
    if "nltk" in sys.modules or (spec := find_spec("nltk")) is None or spec.origin is None:
        return import_module("nltk.stem.porter")
    bare = {"nltk": ModuleType("nltk"), "nltk.stem": ModuleType("nltk.stem")}
    for name, module in bare.items():
        module.__path__ = [str(Path(spec.origin).parent.parent.joinpath(*name.split(".")))]
    sys.modules.update(bare)
    try:
        return import_module("nltk.stem.porter")
    finally:  # whoever imports NLTK later gets all of it
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]


def stemmer_for(name: str, wanted: bool | None, language: Code | None, option: str = "stemmer=true") -> str | None:
    """NLTK's stemmer of a language, unless ``wanted`` is false. Raises RewardError where it is true without one."""
    stemmer = language_of(language).stemmer
    if wanted and stemmer is None:
        raise RewardError(f"{name}: {option}: NLTK has no stemmer for language={language}; leave it out")
    return None if wanted is False else stemmer


def stemming(stemmer: str | None) -> dict[str, object]:
    """What a signature says of a stemmer: NLTK's version and, but for Porter's, its name."""
    if stemmer is None:
        return {}
    return {"stems": library("nltk") if stemmer == "porter" else f"{stemmer}-{library('nltk')}"}


def tokenizing(tokenizer: str, language: Code | None) -> dict[str, object]:
    """What a signature says of a tokenizer: its name, the language if it is given, and the library that it needs."""
    fields: dict[str, object] = {"tokenizer": tokenizer, **({} if language is None else {"language": language})}
    if tokenizer == "spacy":
        return {**fields, "text": library("spacy")}
    return fields if tokenizer == "official" else {**fields, **splitting()}


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of ``n`` words, in order."""
    return list(zip(*(words[start:] for start in range(n)), strict=False))
