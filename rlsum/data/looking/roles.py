"""Which column of a file holds the articles and which the summaries: by their names, and by what they hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from rewards.options import nearest
from rlsum.errors import option
from rlsum.readers import CorpusError

Kind = Literal["output", "title", "summary", "other", "article", ""]
# Words of names, the kinds in the order in which they win: `generated_summary` is an output, `summary_text` a summary.
WORDS: dict[Kind, str] = {
    "output": "candidate chatgpt decoded gen generated gpt hyp hypothesis llm model output pred predicted prediction "
    "system",
    "title": "headline subject title titles titel titre titolo titulo título заголовок 标题 標題 タイトル",
    "summary": "abstract abstracts gold highlight highlights reference references summ summaries summary target tldr "
    "resumen resumo riassunto résumé samenvatting zusammenfassung 摘要 要約",
    "other": "author authors category date fname id idx ids index instruction keyword keywords label lang language "
    "link name names part publisher section sections split subreddit tag tags time timestamp topic topics url urls",
    "article": "article articles artículo artikel body content conversation dialog dialogue doc document documents "
    "input meeting paper passage post report source story text texte texto texts transcript 正文 本文 記事",
}
WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
TLDR = re.compile(r"\btl\W ?dr\b", re.IGNORECASE)
LETTER = re.compile(r"[^\W\d_]")
ADDRESS = re.compile(r"\s*(https?://|www\.)\S*\s*")
FEW_LETTERS = 0.6  # of letters and digits; a date such as 3 March 2014 has fewer letters
LABEL = 100  # characters; a shorter text that often recurs is a label
RECURRING = 0.1  # different texts among all


@dataclass(frozen=True)
class Roles:
    """The columns of articles and summaries, why each was chosen, and the median characters of all columns of texts."""

    source: str
    reference: str
    why: tuple[str, str]
    lengths: Mapping[str, float]


def kind_of(name: str) -> Kind:
    """What a column's name says of it; "" if nothing."""
    words = {word.lower() for word in WORD.findall(TLDR.sub("tldr", name))}
    return next((kind for kind, terms in WORDS.items() if not words.isdisjoint(terms.split())), "")


def lengths(texts: Mapping[str, Sequence[str]], named: Sequence[str] = ()) -> dict[str, float]:
    """Median characters of the columns that hold running text in most rows: no numbers, dates, addresses, labels.

    ``texts``: column -> the text of each row, "" where there is none. Of ``named`` columns any text will do.
    """
    sizes = {}
    for name, values in texts.items():
        present = [text for text in map(str.strip, values) if text]
        if present and (name in named or (2 * len(present) > len(values) and _prose(present))):
            sizes[name] = median(map(len, present))
    return sizes


def _prose(texts: Sequence[str]) -> bool:
    """Whether most are running texts, and not one of a few labels."""
    recur = len(texts) > 1 and len({*texts}) <= max(1, RECURRING * len(texts))
    return 2 * sum(map(_runs, texts)) > len(texts) and not (recur and median(map(len, texts)) < LABEL)


def _runs(text: str) -> bool:
    """Whether a text is of words: two at least, or in a script without spaces a few letters."""
    letters = sum(map(str.isalpha, text))
    if ADDRESS.fullmatch(text) or letters < FEW_LETTERS * sum(map(str.isalnum, text)):
        return False
    lettered = map(LETTER.search, text.split())  # a pattern of two words would read a long one again and again
    return any(map(all, pairwise(lettered))) or sum(ord(letter) > 0xE00 and letter.isalpha() for letter in text) > 3


def roles(
    sizes: Mapping[str, float], columns: Sequence[str], source: str | None = None, reference: str | None = None
) -> Roles:
    """The columns of articles and summaries among ``sizes``, column -> median characters; given ones are checked.

    Raises CorpusError where there is none, or where several would do; the message lists them and names the option.
    """
    for name, column in (("source_column", source), ("reference_column", reference)):
        if column is not None and column not in sizes:
            lacks = "holds no texts" if column in columns else f"no such column{nearest(column, columns)}"
            raise CorpusError(f"{option(name, column)}: {lacks}; {_listed(sizes, columns)}")
    if source is not None and source == reference:
        raise CorpusError(f"{option('reference_column', reference)}: is the column of the articles; name another")
    unassigned = {name: length for name, length in sizes.items() if name not in (source, reference)}
    because = why = "as given"
    if source is None:
        source, because = _one("source_column", "articles", _articles(unassigned), sizes, columns)
        del unassigned[source]
    if reference is None:
        reference, why = _one("reference_column", "summaries", _summaries(unassigned, sizes[source]), sizes, columns)
    return Roles(source, reference, (because, why), sizes)


Choice = tuple[Sequence[str], str]  # columns that would do, and why


def _articles(sizes: Mapping[str, float]) -> Iterator[Choice]:
    """Choices of the column of articles, the best first."""
    kinds = {name: kind_of(name) for name in sizes}
    free = {name: length for name, length in sizes.items() if kinds[name] in ("article", "")}
    if not free and "title" in kinds.values():  # titles of abstracts
        free = {name: length for name, length in sizes.items() if kinds[name] == "summary"}
    longest = max(free.values(), default=0)
    long = [name for name, length in free.items() if 2 * length >= longest]
    named = [name for name, length in free.items() if kinds[name] == "article" and 10 * length >= longest]
    if len(named) > 1 and any(name in long for name in named):
        named = [name for name in named if name in long]
    yield named, "by its name"
    yield long, "the longest texts"


def _summaries(sizes: Mapping[str, float], article: float) -> Iterator[Choice]:
    """Choices of the column of summaries of articles of so many characters, the best first."""
    kinds = {name: kind_of(name) for name in sizes}

    def of_kind(*allowed: Kind) -> list[str]:
        return [name for name, kind in kinds.items() if kind in allowed]

    titles = of_kind("title")
    title = max((sizes[name] for name in titles), default=0)
    yield of_kind("summary"), "by its name"
    between = [name for name in of_kind("", "article") if title < sizes[name] < article]
    yield between, "shorter than the articles" + (" and longer than the titles" if titles else "")
    yield [name for name in titles if sizes[name] == title], "no other texts than titles are left"
    yield of_kind("", "article"), "the only other texts"
    yield of_kind("output"), "the only other texts"


def _one(
    argument: str, what: str, choices: Iterator[Choice], sizes: Mapping[str, float], columns: Sequence[str]
) -> tuple[str, str]:
    """The first choice that there is. Raises CorpusError where it is of several columns, or there is none."""
    names, why = next((choice for choice in choices if choice[0]), ((), ""))
    if len(names) == 1:
        return names[0], why
    if names:
        listed = ", ".join(f"{name!r} ({sizes[name]:,.0f} characters)" for name in names)
        raise CorpusError(f"{what}: {listed}? Each would do, with its median length; name one with {option(argument)}")
    raise CorpusError(f"no column of {what} for {option(argument)}; {_listed(sizes, columns)}")


def _listed(sizes: Mapping[str, float], columns: Sequence[str]) -> str:
    """The columns, those of texts with their lengths."""
    return "columns: " + ", ".join(
        f"{name!r} ({sizes[name]:,.0f} characters)" if name in sizes else repr(name) for name in columns
    )
