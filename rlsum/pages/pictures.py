"""Pictures drawn with matplotlib, each twice: for light and for dark pages."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rlsum.pages import fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Mode = Literal["light", "dark"]
Draw = Callable[["Figure", Mode], None]

# After Okabe and Ito, so that colour-blind readers can tell them apart; each is clear on white and on near-black.
COLOURS = ("#2E86C9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#7FB8E6", "#8A8A8A")
INKS: dict[Mode, str] = {"light": "#222222", "dark": "#d8d8d8"}
PAPERS: dict[Mode, str] = {"light": "#ffffff", "dark": "#1c1f24"}
INVISIBLE = "\u200b"  # a space without width
LONGEST = 40  # letters of a name in a picture; the tables have it whole

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Picture:
    """A picture as PNG bytes for light and for dark pages, with the words that say what it shows.

    ``width`` is its natural width on a page in CSS pixels, so that the letters of all pictures are of one size.
    ``note`` says what stands for words that no installed font can draw; "" where there are none.
    """

    name: str
    title: str
    description: str
    width: int
    light: bytes
    dark: bytes
    note: str = ""


def drawn(name: str, title: str, description: str, size: tuple[float, float], draw: Draw) -> Picture:
    """A picture of ``size`` (width and height in inches) that ``draw`` fills, called for each mode.

    A word in letters that no installed font has becomes a number in brackets; the picture's note, which is logged as a
    warning too, says which word that is.
    """
    stand_ins: dict[str, str] = {}
    light, dark = (_png(size, draw, mode, stand_ins) for mode in INKS)
    note = fonts.told(stand_ins)
    if note:
        log.warning("%s.png: %s", name, note)
    return Picture(name, title, description, round(96 * size[0]), light, dark, note)


def short_name(name: str, longest: int = LONGEST) -> str:
    """A user's name for something, fit for a picture: on one line, not too long, no formula and not hidden.

    Dollars would else begin a formula, and one that is none stops the drawing; legends leave out what begins with an
    underscore, so something invisible stands before it.
    """
    text = " ".join(name.split())
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return (INVISIBLE if short.startswith("_") else "") + short.replace("$", r"\$")


def _png(size: tuple[float, float], draw: Draw, mode: Mode, stand_ins: dict[str, str]) -> bytes:
    """PNG bytes. Figures are made without pyplot, which would keep them in a global list and want a screen."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_style(mode)):
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, mode)
        _stand_in(figure, stand_ins)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})  # the same bytes every time
    return buffer.getvalue()


def _stand_in(figure: Figure, stand_ins: dict[str, str]) -> None:
    """Replace in all texts of a figure the words that cannot be drawn, and say so beneath it."""
    from matplotlib.text import Text

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            written = [text.get_text() for text in axis.get_ticklabels()]
            shown = [fonts.with_stand_ins(text, stand_ins) for text in written]
            if shown != written:
                axis.set_ticklabels(shown)  # set one by one, they would be what they were when the picture is drawn
    for text in figure.findobj(Text):
        text.set_text(fonts.with_stand_ins(text.get_text(), stand_ins))
    if stand_ins:
        told = "Names in letters that no installed font has are numbers here; the text beside has them."
        figure.supxlabel(told, fontsize=7)


def _style(mode: Mode) -> dict[Any, Any]:
    ink, paper = INKS[mode], PAPERS[mode]
    return {
        "font.family": list(fonts.families()),
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
