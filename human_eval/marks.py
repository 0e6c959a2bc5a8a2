"""Errors that judges mark in a summary: categories, and marks as characters of the text that was shown.

An answer is a text: ``A:12-20:wrong-entity B:omitted``, the marks in order, or ``none``. The letter is that of the
summary; the numbers are the first character and the one after the last, counted as Unicode code points from 0. A mark
without numbers is about the whole summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from human_eval.answers import LETTERS

NO_MARKS = "none"
MOST = 200  # marks of an answer
_MARK = re.compile(r"([A-E]):(?:(\d{1,7})-(\d{1,7}):)?([a-z][a-z0-9-]*)")
# Chinese and Japanese have no spaces between words: each character is one, with the punctuation after it.
_CHARACTERS = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_PUNCTUATION = (
    "\u3001-\u3003\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
_WORD = re.compile(rf"[{_CHARACTERS}][{_PUNCTUATION}]*|[^\s{_CHARACTERS}]+")


@dataclass(frozen=True)
class Category:
    """A kind of error. ``whole``: it is about the whole summary, not about some words of it."""

    id: str
    label: str
    help: str = ""
    whole: bool = False


# After FRANK (Pagnoni et al. 2021) and MQM (Lommel et al. 2014).
CATEGORIES = (
    Category("hallucinated", "Not in the article", "The article does not say this."),
    Category("wrong-entity", "Wrong person, place or thing", "Another name, number or date than in the article."),
    Category("wrong-relation", "Wrong relation", "The right names, but not what they did or how they relate."),
    Category("ungrammatical", "Not good English", "Broken grammar, unfinished or repeated words."),
    Category("omitted", "Something important is missing", "About the whole summary.", whole=True),
)


@dataclass(frozen=True, order=True)
class Mark:
    """An error in summary ``place`` (0..), from character ``start`` to before ``end``; both 0 for the whole summary."""

    place: int
    start: int
    end: int
    category: str

    def __str__(self) -> str:
        where = f"{self.start}-{self.end}:" if self.end else ""
        return f"{LETTERS[self.place]}:{where}{self.category}"


@dataclass(frozen=True)
class Word:
    """A word of a text, from character ``start`` to before ``end``; ``before``: what separates it from the last one."""

    before: str
    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text, which spaces separate; in Chinese and Japanese, its characters."""
    result: list[Word] = []
    for match in _WORD.finditer(text):
        last = result[-1].end if result else 0
        result.append(Word(text[last : match.start()], match[0], match.start(), match.end()))
    return result


def length(text: str) -> int:
    """The number of `words` of a text."""
    return len(text.split()) if text.isascii() else len(_WORD.findall(text))


def written(marks: Iterable[Mark]) -> str:
    """The answer that has these marks, each once and in order."""
    return " ".join(map(str, sorted(set(marks)))) or NO_MARKS


def parsed(answer: str) -> list[Mark]:
    """The marks of an answer. Raises ValueError for a text that is no answer."""
    if answer == NO_MARKS:
        return []
    marks = []
    for word in answer.split(" "):
        match = _MARK.fullmatch(word)
        if match is None:
            raise ValueError(f"{word[:40]!r} is no mark")
        letter, start, end, category = match.groups()
        marks.append(Mark(LETTERS.index(letter), int(start or 0), int(end or 0), category))
    return marks


def too_many(answer: str) -> bool:
    """Whether an answer has more marks than are recorded."""
    return answer.count(" ") >= MOST


def agree(answer: str, reference: str) -> bool:
    """Whether each mark of either answer meets one of the other: of the same kind and summary, with a common word."""
    first, second = parsed(answer), parsed(reference)
    return all(any(_meet(mark, known) for known in second) for mark in first) and all(
        any(_meet(mark, known) for known in first) for mark in second
    )


def _meet(first: Mark, second: Mark) -> bool:
    same = (first.place, first.category) == (second.place, second.category)
    return same and (not first.end or max(first.start, second.start) < min(first.end, second.end))


def described(
    answer: str, texts: Sequence[str], categories: Sequence[Category], translated: Callable[[str], str]
) -> str:
    """An answer as judges read it: each kind of error with its words."""
    labels = {category.id: translated(category.label) for category in categories}
    errors = [
        f"{LETTERS[mark.place]}: {labels[mark.category]}"
        + (f" “{texts[mark.place][mark.start : mark.end]}”" if mark.end else "")
        for mark in parsed(answer)
    ]
    return ", ".join(errors) or translated("no errors")


def fault(answer: object, texts: Sequence[str], categories: Sequence[Category]) -> str:
    """What is wrong with an answer about ``texts``; "" if nothing is."""
    try:
        marks = parsed(answer if isinstance(answer, str) else "")
    except ValueError as error:
        return f"{error}; expected {NO_MARKS}, or marks such as A:0-8:{categories[0].id}"
    if too_many(str(answer)):
        return f"more than {MOST} marks"
    if written(marks) != answer:
        return "marks are not in order, or repeated"
    whole = {category.id: category.whole for category in categories}
    for mark in marks:
        if mark.category not in whole:
            return f"unknown category {mark.category!r}, expected {', '.join(whole)}"
        if mark.place >= len(texts):
            return f"{mark} is in none of the {len(texts)} summaries"
        if whole[mark.category] != (mark.end == 0):
            return f"{mark}: {mark.category} is about {'the whole summary' if whole[mark.category] else 'some words'}"
        if mark.end and not mark.start < mark.end <= len(texts[mark.place]):
            return f"{mark} is not within its summary of {len(texts[mark.place])} characters"
    return ""
