"""spaCy's tokens; those of English in a fraction of spaCy's time: each chunk between white space is split once.

Languages without spaces between words have no tokenizer in spaCy that needs no further package. Their tokens are the
words of ``rewards.text.words``, which are characters, and each mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any

from rewards.text.languages import ENGLISH, Language
from rewards.text.words import REMEMBERED, nfc, pieces

# A chunk that is split without spaCy: digits, or letters with single hyphens, also after digits; a mark before, and a
# mark or 's after, are always separate tokens. And its parts.
PLAIN = re.compile(
    """["'(\u2018\u201c]?([0-9]+|([0-9]+-)?[a-zA-Z]+(-[a-zA-Z]+)*)([,;:!?)"'\u2019\u201d]|['\u2019]s|(?<=[a-z0-9])[.])?"""
)
PARTS = re.compile("[a-zA-Z0-9]+|['\u2019]s$|[^a-zA-Z0-9]")
NEAR = 64  # characters in which spaCy looks for a mark at an end of a chunk
LONGEST_URL = 2**13  # characters; web servers take no more
SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=8)
def pipeline(language: Language = ENGLISH) -> Any:
    """spaCy's tokenizer and sentencizer of a language."""
    import spacy

    blank = spacy.blank(language.pipeline)
    blank.add_pipe("sentencizer")
    blank.max_length = 10**9  # spaCy's limit is for parsers, which are not used
    if language.splitter == "character":
        blank.tokenizer = _pieces_as_tokens(blank.vocab)
    else:
        _look_near(blank.tokenizer)
    return blank


def _look_near(tokenizer: Any) -> None:
    """Let spaCy split a chunk of n marks in about n steps: it searches all that is left of it for every mark.

    Its patterns are of a few characters but for runs of full stops, which are searched whole.
    """

    def near(search: Callable[[str], re.Match[str] | None], end: slice) -> Callable[[str], re.Match[str] | None]:
        def searched(text: str) -> re.Match[str] | None:
            match = search(text[end])
            return search(text) if match and len(match[0]) == NEAR else match

        return searched

    rules, tokenizer.rules = tokenizer.rules, {}  # else every change reads them again
    is_url = tokenizer.url_match
    tokenizer.prefix_search = near(tokenizer.prefix_search, slice(NEAR))
    tokenizer.suffix_search = near(tokenizer.suffix_search, slice(-NEAR, None))
    tokenizer.url_match = lambda chunk: is_url(chunk) if len(chunk) <= LONGEST_URL else None
    tokenizer.rules = rules


def _pieces_as_tokens(vocab: Any) -> Any:
    """A tokenizer for spaCy's pipelines of languages without spaces; white space is a token, too, as spaCy has it."""
    from spacy.tokens import Doc

    def tokenize(text: str) -> Any:
        words = pieces(text)
        return Doc(vocab, words=words, spaces=[False] * len(words))

    return tokenize


def tokens(text: str, language: Language = ENGLISH) -> list[str]:
    """spaCy's tokens of ``text``, case kept, white space left out."""
    text = encodable(text)
    if language.splitter == "character":
        return [piece for piece in pieces(text) if not piece.isspace()]
    if language != ENGLISH:
        return [token.text for token in pipeline(language).tokenizer(text) if not token.is_space]
    chunks = [tokens_of_chunk(chunk) for chunk in text.split()]
    plain = [chunk for chunk in chunks if chunk is not None]
    return list(chain.from_iterable(plain)) if len(plain) == len(chunks) else cut(text)


@lru_cache(maxsize=REMEMBERED)
def tokens_of_chunk(chunk: str) -> list[str] | None:
    """spaCy's tokens of a chunk between white space; None where they depend on the rest of the text.

    Plain letters or digits are one token, letters around single hyphens are split at each, and a few marks are always
    split off at the start and end. spaCy splits all other chunks, which takes ten times as long. spaCy also looks for
    its special cases (``:)``, ``Inc.``) among neighbouring tokens of the whole text, where one that spans white space
    can hide another. So tokens may depend on the text where special cases change them, unless the chunk is itself one.
    """
    split = PARTS.findall(chunk) if PLAIN.fullmatch(chunk) else cut(chunk, special_cases=False)
    if not _special_case_among(split):
        return split
    with_cases = cut(chunk)
    return with_cases if with_cases == split or chunk in _special_cases()[0] else None


def cut(text: str, special_cases: bool = True) -> list[str]:
    """spaCy's own tokens, with or without its special cases."""
    return [token.text for token in _tokenizer(special_cases)(text) if not token.text.isspace()]


@lru_cache(maxsize=2)
def _tokenizer(special_cases: bool) -> Any:
    """spaCy's tokenizer with an empty vocabulary: it computes no attributes of new words, which would take longer."""
    from spacy.tokenizer import Tokenizer
    from spacy.vocab import Vocab

    tokenizer = pipeline().tokenizer
    names = ("prefix_search", "suffix_search", "infix_finditer", "token_match", "url_match")
    rules = tokenizer.rules if special_cases else None
    return Tokenizer(Vocab(), rules=rules, **{name: getattr(tokenizer, name) for name in names})


def _special_case_among(parts: list[str]) -> bool:
    """Whether neighbouring parts spell a special case that spaCy splits differently."""
    (rules, longest), count = _special_cases(), len(parts)
    starts = range(count)
    runs = (parts[start:end] for start in starts for end in range(start + 1, min(start + longest, count) + 1))
    return any(rules.get("".join(run), run) != run for run in runs)


@lru_cache(maxsize=1)
def _special_cases() -> tuple[dict[str, list[str]], int]:
    """The tokens of each special case, and the length of the longest."""
    from spacy.symbols import ORTH

    rules = pipeline().tokenizer.rules
    return {spelled: [token[ORTH] for token in tokens] for spelled, tokens in rules.items()}, max(map(len, rules))


def encodable(text: str) -> str:
    """``text`` in NFC, with each lone surrogate, which spaCy refuses, as the replacement character."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", nfc(text))
