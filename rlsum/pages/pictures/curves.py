"""Pictures of curves: panels in rows, with one legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rlsum.pages.pictures.drawing import COLOURS, Picture, drawn, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["linear", "log"]

PANEL = (4.0, 2.7)  # inches a panel
COLUMNS = 3
LETTER, HANDLE = 0.08, 0.6  # inches of a letter and of a line with its space in the legend


@dataclass(frozen=True)
class Curve:
    """A line of a panel: ``steps`` and ``values`` (n,) each; ``dashed`` for a line that others are compared with.

    ``band``: the lower and the upper end (n,) of a shaded area around it, or of a bar at each point if steps go back.
    """

    label: str
    colour: str
    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    smooth: bool = False
    dashed: bool = False
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes: their labels ``across`` and ``up``, the ``span`` of values shown, ``scales`` of both axes."""

    title: str
    curves: tuple[Curve, ...]
    across: str = "step"
    span: tuple[float, float] | None = None
    scales: tuple[Scale, Scale] = ("linear", "linear")
    up: str = ""


def look(number: int) -> tuple[str, bool]:
    """The colour of a line by its number, and whether it is dashed: where the colours begin again."""
    return COLOURS[number % len(COLOURS)], number >= len(COLOURS)


def picture(name: str, title: str, description: str, panels: Sequence[Panel]) -> Picture:
    """A picture of panels, up to ``COLUMNS`` in a row, with one legend."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)

    def draw(figure: Figure, _: str) -> None:
        for number, panel in enumerate(panels, 1):
            _draw(figure.add_subplot(rows, columns, number), panel)
        _legend(figure)

    return drawn(name, title, description, (PANEL[0] * columns, PANEL[1] * rows + 0.4), draw)


def smoothed(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Centred moving average of ``values`` (n,) over up to ``width`` points, fewer at the ends; (n,)."""
    if width <= 1:
        return values  # gaps (NaN) stay gaps
    window = np.ones(2 * (width // 2) + 1)
    return np.convolve(values, window, "same") / np.convolve(np.ones_like(values), window, "same")


def _draw(axes: Axes, panel: Panel) -> None:
    for curve in panel.curves:
        if curve.band is not None:
            if (np.diff(curve.steps) > 0).all():
                axes.fill_between(curve.steps, *curve.band, color=curve.colour, alpha=0.15, linewidth=0)
            else:
                axes.vlines(curve.steps, *curve.band, color=curve.colour, alpha=0.35, linewidth=1)
        width = max(1, len(curve.steps) // 20) if curve.smooth else 1
        if width > 1 and not curve.dashed:
            axes.plot(curve.steps, curve.values, color=curve.colour, alpha=0.18, linewidth=0.7)
        line, marker = "--" if curve.dashed else "-", "." if len(curve.steps) <= 30 else None
        values = smoothed(curve.values, width)
        axes.plot(curve.steps, values, line, marker=marker, color=curve.colour, label=curve.label)
    axes.set_title(short_name(panel.title), loc="left")
    axes.set(xlabel=panel.across, ylabel=panel.up, xscale=panel.scales[0], yscale=panel.scales[1])
    if panel.scales[0] == "linear":  # long numbers would run into each other
        axes.locator_params(axis="x", nbins=5, integer=panel.across == Panel.across)
    if panel.span is not None:
        axes.set_ylim(*panel.span)


def _legend(figure: Figure) -> None:
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    widest = LETTER * max(map(len, entries), default=0) + HANDLE
    columns = max(1, min(4, len(entries), int(figure.get_figwidth() / widest)))
    figure.legend(entries.values(), entries.keys(), loc="outside lower left", ncols=columns, frameon=False)
