"""Numbers and names in sentences: one way of writing them for every message, page and table."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

LEFT_TO_RIGHT = "\u200e"  # an invisible mark


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the plural (the noun with an s, unless it is given) unless it is one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spread(numbers: Sequence[int], noun: str) -> str:
    """From the least to the most with their noun, or the one number that all are."""
    least, most = min(numbers), max(numbers)
    return counted(most, noun) if least == most else f"{least:,} to {counted(most, noun)}"


def percentage(share: float) -> str:
    """A share as it would be said: 60%, 62.5%."""
    return f"{100 * share:.3g}%"


def versus(pair: tuple[str, str]) -> str:
    """The two names of a pair, the first on the left whatever their scripts.

    Names from right to left would otherwise turn the order around, and the first would be read as the second.
    """
    return " / ".join(map(_kept_in_place, pair))


def _kept_in_place(name: str) -> str:
    turning = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"{LEFT_TO_RIGHT}{name}{LEFT_TO_RIGHT}" if turning else name
