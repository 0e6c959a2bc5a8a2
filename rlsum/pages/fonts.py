"""Letters in pictures: the fonts that draw them, and what stands for words that no installed font can draw.

A picture is drawn with DejaVu Sans, which comes with matplotlib and has Latin, Greek, Cyrillic, Arabic and Hebrew
letters. For others the families below are asked in turn, as far as they are installed.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Mapping
from functools import cache

FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    # of macOS
    "PingFang SC",
    "Hiragino Sans GB",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Arial Unicode MS",
    # of Windows
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Nirmala UI",
    "Leelawadee UI",
    "Segoe UI Symbol",
    # other scripts
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Telugu",
    "Noto Sans Thai",
    "Noto Sans Ethiopic",
    "Noto Sans Georgian",
    "Noto Sans Armenian",
    "Noto Sans Symbols",
    "Noto Sans Symbols 2",
    "Noto Emoji",
    "Symbola",
)


@cache
def families() -> tuple[str, ...]:
    """Those of `FAMILIES` that are installed, in their order; matplotlib takes a letter from the first that has it."""
    from matplotlib import font_manager

    # matplotlib lists the fonts of the day it first ran, so one that was installed since is added here.
    listed = {font.fname for font in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - listed):
        with contextlib.suppress(OSError, RuntimeError):  # of a kind that matplotlib cannot draw with
            font_manager.fontManager.addfont(path)
    installed = set(font_manager.get_font_names())
    return tuple(family for family in FAMILIES if family in installed)


def missing(text: str) -> str:
    """The letters of ``text`` that no installed family has, each once; "" where all can be drawn."""
    seen = (letter for letter in text if not letter.isspace() and unicodedata.category(letter) != "Cf")
    return "".join(dict.fromkeys(letter for letter in seen if not _can_be_drawn(letter)))


def with_stand_ins(text: str, stand_ins: dict[str, str]) -> str:
    """``text`` with [1], [2], ... for each word that cannot be drawn. New ones are added to ``stand_ins``."""

    def shown(word: re.Match[str]) -> str:
        return stand_ins.setdefault(word[0], f"[{len(stand_ins) + 1}]") if missing(word[0]) else word[0]

    return re.sub(r"\S+", shown, text)


def told(stand_ins: Mapping[str, str]) -> str:
    """Stand-ins in words, with the fix; "" for none."""
    if not stand_ins:
        return ""
    named = ", ".join(rf"{number} is {word}".replace(r"\$", "$") for word, number in stand_ins.items())
    return f"{named}: no installed font has these letters; a font that has them, such as one of Noto Sans, shows them."


def _can_be_drawn(letter: str) -> bool:
    if unicodedata.bidirectional(letter) in ("R", "AL") and not _shapes():
        return False
    return any(ord(letter) in _letters(family) for family in families())


@cache
def _shapes() -> bool:
    """Whether this matplotlib orders and joins letters as scripts from right to left need it (3.11 does)."""
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")


@cache
def _letters(family: str) -> frozenset[int]:
    """The code points that a family has."""
    from matplotlib import font_manager

    path = font_manager.findfont(font_manager.FontProperties(family=[family]), fallback_to_default=False)
    return frozenset(font_manager.get_font(path).get_charmap())
