"""Pictures drawn with matplotlib, each for light and for dark pages."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from rlsum.pages.pictures import fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Mode = Literal["light", "dark"]
Draw = Callable[["Figure", Mode], None]

# After Okabe and Ito, distinct for colour-blind readers; each is clear on white and on near-black.
COLOURS = ("#2E86C9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#7FB8E6", "#8A8A8A")
INKS: dict[Mode, str] = {"light": "#222222", "dark": "#d8d8d8"}
PAPERS: dict[Mode, str] = {"light": "#ffffff", "dark": "#1c1f24"}
INVISIBLE = "\u200b"  # a space without width
LONGEST = 40  # letters of a name in a picture; tables show it in full

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Picture:
    """A picture as PNG bytes for light and for dark pages, with a description.

    ``width`` is its width on a page in CSS pixels, such that the letters of all pictures have one size. ``note``
    explains the numbers in place of words that no installed font can draw; "" without any. ``vector`` draws the light
    picture as SVG, for print; None for a picture that exists as PNG alone.
    """

    name: str
    title: str
    description: str
    width: int
    light: bytes
    dark: bytes
    note: str = ""
    vector: Callable[[], bytes] | None = field(default=None, compare=False, repr=False)


def drawn(name: str, title: str, description: str, size: tuple[float, float], draw: Draw) -> Picture:
    """A picture of ``size`` (width and height in inches) that ``draw`` fills, called for each mode.

    A word in letters that no installed font has becomes a number in brackets; the picture's note, also logged as a
    warning, explains it.
    """
    numbers: dict[str, str] = {}
    light, dark = (_image(size, draw, mode, numbers) for mode in INKS)
    note = fonts.legend(numbers)
    if note:
        log.warning("%s.png: %s", name, note)
    vector = partial(_image, size, draw, "light", numbers, "svg")
    return Picture(name, title, description, round(96 * size[0]), light, dark, note, vector)


def short_names(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Name -> `short_name`, with so much of the ends as tells all names apart, else with numbers."""
    names = list(dict.fromkeys(names))
    for tail in (0, longest // 3, longest // 2, longest - 2):
        short = {name: short_name(name, longest, tail) for name in names}
        if len({_visible(text) for text in short.values()}) == len(names):
            return short
    places = [f" {place}" for place in range(1, len(names) + 1)]
    return {name: short_name(name, longest - len(place)) + place for name, place in zip(names, places, strict=True)}


def _visible(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())


def short_name(name: str, longest: int = LONGEST, tail: int = 0) -> str:
    """A user's name for something, fit for a picture: on one line, not too long, no formula and not hidden.

    A long name is cut before its last ``tail`` letters.
    Dollars begin formulas and are escaped. An initial underscore hides a name from legends: an invisible space precedes
    it.
    """
    text = " ".join(name.split())
    if len(text) > longest:
        text = f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
    return (INVISIBLE if text.startswith("_") else "") + text.replace("$", r"\$")


def _image(
    size: tuple[float, float], draw: Draw, mode: Mode, numbers: dict[str, str], form: Literal["png", "svg"] = "png"
) -> bytes:
    """PNG or SVG bytes. Without pyplot, which keeps figures in a global list and needs a screen."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_style(mode)):
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, mode)
        _number_words(figure, numbers)
        buffer = io.BytesIO()
        unchanging = {"Software": None} if form == "png" else {"Date": None}  # the same bytes every time
        figure.savefig(buffer, format=form, metadata=unchanging)
    return buffer.getvalue()


def _number_words(figure: Figure, numbers: dict[str, str]) -> None:
    """Replace the words that cannot be drawn in all texts of a figure, and say so below it."""
    from matplotlib.text import Text

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            written = [text.get_text() for text in axis.get_ticklabels()]
            shown = [fonts.with_numbers(text, numbers) for text in written]
            if shown != written:
                axis.set_ticklabels(shown)  # all at once: labels that are set one by one are reset by the drawing
    for text in figure.findobj(Text):
        text.set_text(fonts.with_numbers(text.get_text(), numbers))
    if numbers:
        figure.supxlabel("Numbers replace names in letters that no installed font has; see the note.", fontsize=7)


def _style(mode: Mode) -> dict[Any, Any]:
    ink, paper = INKS[mode], PAPERS[mode]
    return {
        "font.family": list(fonts.families()),
        **dict.fromkeys(("figure.facecolor", "savefig.facecolor", "axes.facecolor"), paper),
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), ink),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
        "axes.edgecolor": ink + "66",
        "axes.grid": True,
        "grid.color": ink + "22",
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "font.size": 9,
        "lines.linewidth": 1.6,
        "svg.hashsalt": "rlsum",
    }
