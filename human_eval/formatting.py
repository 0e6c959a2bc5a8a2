"""How numbers, names and cells are written in messages, pages, tables and CSV files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

LEFT_TO_RIGHT = "\u200e"  # an invisible mark
# ASCII and full width. A tab or carriage return at the beginning of a cell may hide what follows it.
_FORMULA = re.compile(r"(^|[;\t\r\n])([ \u00a0\ufeff]*(?:[=+\-@\uff1d\uff0b\uff0d\uff20]|(?<![;\t\r\n])[\t\r]))")


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: ``1 item``, ``1,200 items``. The plural adds an s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spread(numbers: Sequence[int], noun: str) -> str:
    """The range of some numbers and their noun: ``3 to 5 tasks``, or ``5 tasks`` where all are equal."""
    least, most = min(numbers), max(numbers)
    return counted(most, noun) if least == most else f"{least:,} to {counted(most, noun)}"


def percentage(share: float) -> str:
    """A share with three significant digits: ``60%``, ``62.5%``."""
    return f"{100 * share:.3g}%"


def versus(pair: tuple[str, str]) -> str:
    """The two names of a pair, the first on the left in every script.

    A name written from right to left would otherwise reverse the order of the two.
    """
    return " / ".join(map(_left_to_right, pair))


def _left_to_right(name: str) -> str:
    reverses = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"{LEFT_TO_RIGHT}{name}{LEFT_TO_RIGHT}" if reverses else name


def is_unicode(text: str) -> bool:
    """False for a lone surrogate, which JSON and command lines can hold but UTF-8 cannot."""
    return re.search("[\ud800-\udfff]", text) is None


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """CSV of rows, header included. Texts that a spreadsheet would evaluate are escaped; NaN and None are empty."""
    from rlsum.pages import formats  # imports templates

    return formats.csv_text([neutral(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def neutral(cell: str) -> str:
    """The cell, with an apostrophe wherever a spreadsheet would evaluate a formula.

    That is at its beginning, and after a semicolon, tab or line break: where spreadsheets expect another delimiter than
    the comma, quotes do not keep a cell together.
    """
    return _FORMULA.sub(r"\1'\2", cell)


def letters(text: str) -> str:
    """The letters, marks and numbers of a text, without case: the same however it is punctuated and spaced."""
    composed = unicodedata.normalize("NFC", text.casefold())
    return "".join(character for character in composed if unicodedata.category(character)[0] in "LMN")
