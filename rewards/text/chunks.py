"""spaCy's tokens of English text, cut chunk by chunk: what stands between white space, each cut once.

They are spaCy's own, token for token, at a fraction of the time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Any

# Texts analysed once: the references of a training set across its epochs, and every output across several metrics.
# An entry takes about 1 KB for a summary. Of their chunks and tokens as many are remembered, at about 200 bytes each.
REMEMBERED = 2**17
# A chunk that is cut without spaCy: digits, or letters with single hyphens, after digits too; around them what spaCy
# always cuts off, a mark before and a mark or 's after. And its parts.
PLAIN = re.compile(
    """["'(\u2018\u201c]?([0-9]+|([0-9]+-)?[a-zA-Z]+(-[a-zA-Z]+)*)([,;:!?)"'\u2019\u201d]|['\u2019]s|(?<=[a-z0-9])[.])?"""
)
PARTS = re.compile("[a-zA-Z0-9]+|['\u2019]s$|[^a-zA-Z0-9]")
SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def pipeline() -> Any:
    """spaCy's tokenizer and sentencizer of English."""
    import spacy

    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.max_length = 10**9  # spaCy's limit guards parsers, and none is here
    return blank


def tokens(text: str) -> list[str]:
    """spaCy's tokens of ``text``, case kept, white space left out."""
    text = encodable(text)
    chunks = [tokens_of_chunk(chunk) for chunk in text.split()]
    sure = [chunk for chunk in chunks if chunk is not None]
    return list(chain.from_iterable(sure)) if len(sure) == len(chunks) else cut(text)


@lru_cache(maxsize=REMEMBERED)
def tokens_of_chunk(chunk: str) -> list[str] | None:
    """spaCy's tokens of what stands between white space, cut once however often it is said; None: ask for the text.

    Plain letters are one token, as all of spaCy's English rules look for a mark or a digit, or for a special case; so
    are plain digits, and letters around single hyphens are cut at each of them. A few marks are cut off wherever a
    chunk begins or ends with them. Else spaCy cuts, each chunk on its own, which takes ten times as long.

    Only its special cases (``:)``, ``Inc.``) are also sought in the text that is cut, as neighbouring tokens that the
    other rules make; there one that reaches over white space can hide another. So a chunk is sure unless it was cut
    otherwise than without special cases, and is not itself one of them.
    """
    parts = PARTS.findall(chunk) if PLAIN.fullmatch(chunk) else cut(chunk, special_cases=False)
    if not _special_case_among(parts):
        return parts
    found = cut(chunk)
    return found if found == parts or chunk in _special_cases()[0] else None


def cut(text: str, special_cases: bool = True) -> list[str]:
    """The tokens as spaCy itself cuts them, with or without its special cases."""
    return [token.text for token in _tokenizer(special_cases)(text) if not token.text.isspace()]


@lru_cache(maxsize=2)
def _tokenizer(special_cases: bool) -> Any:
    """spaCy's own, on a vocabulary that works nothing out about a new word, which takes longer than to find it."""
    from spacy.tokenizer import Tokenizer
    from spacy.vocab import Vocab

    whole = pipeline().tokenizer
    names = ("prefix_search", "suffix_search", "infix_finditer", "token_match", "url_match")
    rules = whole.rules if special_cases else None
    return Tokenizer(Vocab(), rules=rules, **{name: getattr(whole, name) for name in names})


def _special_case_among(parts: list[str]) -> bool:
    """Whether neighbouring parts spell one of spaCy's special cases that is cut otherwise than they are."""
    (rules, longest), count = _special_cases(), len(parts)
    starts = range(count)
    runs = (parts[start:end] for start in starts for end in range(start + 1, min(start + longest, count) + 1))
    return any(rules.get("".join(run), run) != run for run in runs)


@lru_cache(maxsize=1)
def _special_cases() -> tuple[dict[str, list[str]], int]:
    """What they spell and their tokens; and how long the longest is."""
    from spacy.symbols import ORTH

    rules = pipeline().tokenizer.rules
    return {spelled: [token[ORTH] for token in tokens] for spelled, tokens in rules.items()}, max(map(len, rules))


def encodable(text: str) -> str:
    """``text`` with each lone surrogate, which spaCy cannot take, as the sign for an unreadable character."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)
