"""Pictures drawn with matplotlib, each twice: for light and for dark pages."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Mode = Literal["light", "dark"]
Draw = Callable[["Figure", Mode], None]

# After Okabe and Ito, so that colour-blind readers can tell them apart; each is clear on white and on near-black.
COLOURS = ("#2E86C9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#7FB8E6", "#8A8A8A")
INKS: dict[Mode, str] = {"light": "#222222", "dark": "#d8d8d8"}
PAPERS: dict[Mode, str] = {"light": "#ffffff", "dark": "#1c1f24"}


@dataclass(frozen=True)
class Picture:
    """A picture as PNG bytes for light and for dark pages, with the words that say what it shows.

    ``width`` is its natural width on a page in CSS pixels, so that the letters of all pictures are of one size.
    """

    name: str
    title: str
    description: str
    width: int
    light: bytes
    dark: bytes


def drawn(name: str, title: str, description: str, size: tuple[float, float], draw: Draw) -> Picture:
    """A picture of ``size`` (width and height in inches) that ``draw`` fills, called for each mode."""
    return Picture(name, title, description, round(96 * size[0]), _png(size, draw, "light"), _png(size, draw, "dark"))


def _png(size: tuple[float, float], draw: Draw, mode: Mode) -> bytes:
    """PNG bytes. Figures are made without pyplot, which would keep them in a global list and want a screen."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_style(mode)):
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, mode)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})  # the same bytes every time
    return buffer.getvalue()


def _style(mode: Mode) -> dict[Any, Any]:
    ink, paper = INKS[mode], PAPERS[mode]
    return {
        "figure.facecolor": paper,
        "savefig.facecolor": paper,
        "axes.facecolor": paper,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": ink + "66",
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": ink + "22",
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "font.size": 9,
        "lines.linewidth": 1.6,
    }
