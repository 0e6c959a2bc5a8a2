"""Fonts of pictures, and numbers in place of words that no installed font can draw.

DejaVu Sans comes with matplotlib. Letters that it lacks come from the first installed family below that has them.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Mapping
from functools import cache

CHINESE_JAPANESE_KOREAN = ("CJK SC", "CJK JP", "SC", "JP", "KR")
OTHERS = ("Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Telugu", "Thai", "Ethiopic", "Georgian", "Armenian")
LINUX = ("Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback")
MACOS = ("PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS")
WINDOWS = ("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Nirmala UI", "Leelawadee UI", "Segoe UI Symbol")
FAMILIES = (
    *("DejaVu Sans", "Noto Sans", *(f"Noto Sans {script}" for script in CHINESE_JAPANESE_KOREAN)),
    *(*LINUX, *MACOS, *WINDOWS),
    *(f"Noto Sans {script}" for script in (*OTHERS, "Symbols", "Symbols 2")),
    *("Noto Emoji", "Symbola"),
)


@cache
def families() -> tuple[str, ...]:
    """The installed families of `FAMILIES`, in order; matplotlib takes a letter from the first that has it."""
    from matplotlib import font_manager

    # matplotlib lists the fonts that were installed when it first ran; newer ones are added here.
    listed = {font.fname for font in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - listed):
        with contextlib.suppress(OSError, RuntimeError):  # a format that matplotlib cannot use
            font_manager.fontManager.addfont(path)
    installed = set(font_manager.get_font_names())
    return tuple(family for family in FAMILIES if family in installed)


def missing(text: str) -> str:
    """The letters of ``text`` that no installed family has, each once."""
    visible = (letter for letter in text if not letter.isspace() and unicodedata.category(letter) != "Cf")
    return "".join(dict.fromkeys(letter for letter in visible if not _can_be_drawn(letter)))


def with_numbers(text: str, numbers: dict[str, str]) -> str:
    """``text`` with [1], [2], ... for each word that cannot be drawn; adds new words to ``numbers``."""

    def replacement(word: re.Match[str]) -> str:
        return numbers.setdefault(word[0], f"[{len(numbers) + 1}]") if missing(word[0]) else word[0]

    return re.sub(r"\S+", replacement, text)


def legend(numbers: Mapping[str, str]) -> str:
    """The words behind the numbers, with the fix; "" without any."""
    if not numbers:
        return ""
    words = ", ".join(rf"{number} is {word}".replace(r"\$", "$") for word, number in numbers.items())
    return f"{words}: no installed font has these letters; install a font that has them, such as one of Noto Sans."


def _can_be_drawn(letter: str) -> bool:
    from matplotlib import ft2font

    leftwards = unicodedata.bidirectional(letter) in ("R", "AL")
    if leftwards and not hasattr(ft2font, "__libraqm_version__"):  # matplotlib 3.11 lays out such scripts
        return False
    return any(ord(letter) in _letters(family) for family in families())


@cache
def _letters(family: str) -> frozenset[int]:
    from matplotlib import font_manager

    path = font_manager.findfont(font_manager.FontProperties(family=[family]), fallback_to_default=False)
    return frozenset(font_manager.get_font(path).get_charmap())
