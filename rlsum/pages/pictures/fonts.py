"""Fonts of pictures. DejaVu Sans comes with matplotlib; letters that it lacks come from the first family that has them.

Letters that no installed family has are drawn as boxes.
"""

from __future__ import annotations

import contextlib
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
