"""Explanations as PNG or as an HTML page: flows between two texts, or a matrix of cosines, matches or values."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlsum.explain import layout
from rlsum.explain.layout import (
    BAR,
    CELL,
    FONT,
    LINE,
    Band,
    FlowLayout,
    MatrixLayout,
    Node,
    PictureLayout,
    cosine_text,
    short,
)
from rlsum.pages.pictures import fonts
from rlsum.pages.templates import render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rewards.explain import Explanation

DPI = 100  # a pixel of the layout is SHARPNESS pixels of the picture
SHARPNESS = 2
LARGEST = 2**15  # pixels of a side; not every program opens larger pictures
POINT = 72 / DPI
INKS = {"light": "#1d2126", "dark": "#e4e7ea"}
SOFT = {"light": "#5d6670", "dark": "#a0a9b2"}
PAPERS = {"light": "#ffffff", "dark": "#1c1f24"}
# Of what moves, orange and blue as in Figure 1, and of a cosine below 0; a cosine above has the blue.
COLOURS = {"word": "#e08a00", "sentence": "#2e86c9", "mixed": "#8b6fb8", "opposite": "#d55e00"}
LEGEND = "words orange, sentences blue, between them violet"
TITLE = 58.0  # pixels above the picture


def png(explanation: Explanation, theme: str = "light") -> tuple[bytes, bool]:
    """The picture of an explanation, and whether the installed fonts have every letter."""
    return drawn(layout.layout_of(explanation), theme)


def drawn(picture: PictureLayout, theme: str) -> tuple[bytes, bool]:
    """As ``png``, of a picture whose places are known."""
    import matplotlib as mpl

    settings: Any = {"font.family": list(fonts.families()), "text.parse_math": False}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font")
        figure = _flow_figure(picture, theme) if isinstance(picture, FlowLayout) else _matrix_figure(picture, theme)
        buffer = io.BytesIO()
        side = max(figure.get_size_inches()) * DPI
        dpi = DPI * min(SHARPNESS, LARGEST / side)
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=PAPERS[theme])
    items = (*picture.explanation.candidate, *picture.explanation.reference)
    texts = (layout.one_line(item.text) for item in items)
    return buffer.getvalue(), not fonts.missing("".join(texts))


def html(pictures: Sequence[PictureLayout]) -> str:
    """One page that needs no network, light and dark, with a section for each metric."""
    looks = {"colours": COLOURS, "legend": LEGEND, "layout": layout, "max": max}
    return render("explain/page.html", {"pictures": pictures, **looks})


def _canvas(picture: PictureLayout, theme: str) -> tuple[Figure, Axes]:
    """A figure with axes in pixels, titled with the metric and its score."""
    from matplotlib.figure import Figure

    explanation, width, height = picture.explanation, picture.width, picture.height
    figure = Figure(figsize=(width / DPI, (height + TITLE) / DPI))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, -TITLE))
    axes.axis("off")
    title = f"{explanation.metric} {explanation.score:.4f}"
    axes.text(16, -34, title, fontsize=17 * POINT, weight="bold", color=INKS[theme], va="center")
    both = {item.kind for item in explanation.candidate} == {"word", "sentence"}
    note = f"{explanation.note}; {LEGEND}" if both else explanation.note
    axes.text(16, -12, note, fontsize=12 * POINT, color=SOFT[theme], va="center")
    return figure, axes


def _flow_figure(flow: FlowLayout, theme: str) -> Figure:
    figure, axes = _canvas(flow, theme)
    style: dict[str, Any] = {"fontsize": 12 * POINT, "color": SOFT[theme], "style": "italic", "va": "center"}
    axes.text(flow.candidate[0].x - 6, 4, "candidate", ha="right", **style)
    axes.text(flow.reference[0].x + 6, 4, "reference", ha="left", **style)
    for band in reversed(flow.bands):  # the lightest on top
        _draw_band(axes, band)
    for band in flow.bands:
        if band.label:
            box = {"facecolor": PAPERS[theme], "edgecolor": "none", "alpha": 0.85, "pad": 1}
            label = f"{band.distance:.2f}"
            axes.text(*band.label, label, fontsize=10 * POINT, color=INKS[theme], ha="center", va="center", bbox=box)
    for nodes, side in ((flow.candidate, "right"), (flow.reference, "left")):
        for node in nodes:
            _draw_node(axes, node, side, theme)
    return figure


def _draw_band(axes: Axes, band: Band) -> None:
    """The area between two parallel curves; one thick curve would look thinner where it is steep."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (x0, y0), (x1, y1) = band.start, band.end
    half, middle = max(band.width, 1.0) / 2, (x0 + x1) / 2
    upper = [(x0, y0 - half), (middle, y0 - half), (middle, y1 - half), (x1, y1 - half)]
    lower = [(x1, y1 + half), (middle, y1 + half), (middle, y0 + half), (x0, y0 + half)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    path = Path([*upper, *lower, (x0, y0 - half)], codes)
    axes.add_patch(PathPatch(path, facecolor=COLOURS[band.kind], edgecolor="none", alpha=0.45))


def _draw_node(axes: Axes, node: Node, side: str, theme: str) -> None:
    from matplotlib.patches import Rectangle

    left, x = (node.x, node.x - 6) if side == "right" else (node.x - BAR, node.x + 6)
    axes.add_patch(Rectangle((left, node.bar_y), BAR, max(node.bar_height, 1.0), color=COLOURS[node.item.kind]))
    style: dict[str, Any] = {"fontsize": FONT * POINT, "color": INKS[theme], "ha": side, "va": "center"}
    weight = "bold" if node.item.kind == "sentence" else "normal"
    for row, line in enumerate(node.lines):
        axes.text(x, node.y + (row + 0.5) * LINE, line, weight=weight, **style)


def _matrix_figure(matrix: MatrixLayout, theme: str) -> Figure:
    from matplotlib.patches import Rectangle

    figure, axes = _canvas(matrix, theme)
    style: dict[str, Any] = {"fontsize": 11 * POINT, "color": INKS[theme]}
    for row, item in enumerate(matrix.explanation.candidate):
        axes.text(matrix.left - 5, matrix.top + (row + 0.5) * CELL, short(item.text), ha="right", va="center", **style)
    for column, item in enumerate(matrix.explanation.reference):
        foot = matrix.left + (column + 0.5) * CELL + 2, matrix.top - 5
        axes.text(*foot, short(item.text), rotation=55, ha="left", va="bottom", rotation_mode="anchor", **style)
    for cell in matrix.cells:
        colour = COLOURS["sentence" if cell.value >= 0 else "opposite"]
        axes.add_patch(Rectangle((cell.x, cell.y), CELL, CELL, facecolor=colour, alpha=cell.strength, lw=0))
        if cell.best:
            inner = (cell.x + 1, cell.y + 1), CELL - 2, CELL - 2
            axes.add_patch(Rectangle(*inner, fill=False, edgecolor=INKS[theme], lw=0.9))
        if matrix.numbered:
            middle = cell.x + CELL / 2, cell.y + CELL / 2
            ink = "#ffffff" if cell.strength > 0.6 else INKS[theme]
            axes.text(*middle, cosine_text(cell.value), color=ink, fontsize=7 * POINT, ha="center", va="center")
    return figure
