"""Every metric's correlation with people as a dot with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reproductions.movers.correlations import Measured
from reproductions.movers.metrics import LENGTH
from rlsum.pages.pictures import COLOURS, INKS, Mode, Picture, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, LINE, REST = 4.2, 0.27, 1.1  # inches: width of a panel, height of a line, and of all else


def intervals(measured: Sequence[Measured]) -> Picture:
    """A panel a set of texts, a line a metric, and a dashed line at what length alone reaches."""
    lines = len(measured[0].table.columns)

    def draw(figure: Figure, mode: Mode) -> None:
        every = figure.subplots(1, len(measured), sharey=True, squeeze=False)[0]
        for axes, each in zip(every, measured, strict=True):
            _draw(axes, each, mode)

    description = "Spearman's rho with people and its 95% interval; dashed: what length alone reaches"
    size = (PANEL * len(measured) + 1.2, LINE * lines + REST)
    return drawn("table2", "Metrics against people", description, size, draw)


def _draw(axes: Axes, measured: Measured, mode: Mode) -> None:
    labels = list(measured.table.columns)
    for place, label in enumerate(labels):
        found = measured.result.correlations[label].average
        if np.isnan(found.value):
            continue
        colour = COLOURS[_family(label)]
        axes.plot([found.low, found.high], [place, place], color=colour, solid_capstyle="round")
        axes.plot([found.value], [place], marker="o", markersize=5, color=colour)
    axes.axvline(measured.estimates[LENGTH].value, color=INKS[mode], linestyle="--", linewidth=1, alpha=0.6)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)  # the first on top
    axes.grid(False, axis="y")
    axes.set_xlabel("Spearman's rho")
    axes.set_title(f"{measured.name}, n = {len(measured.table):,}", loc="left")


def _family(label: str) -> int:
    """Which colour: static movers, contextual movers, ROUGE-L, length."""
    if label == LENGTH:
        return 6
    return 0 if label.endswith("static") else 1 if label.endswith("contextual") else 2
