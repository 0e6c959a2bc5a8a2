"""The correlation of every metric with people, as a dot with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproductions.movers.correlations import Measured
from reproductions.movers.metrics import LENGTH
from rlsum.pages.pictures.drawing import COLOURS, INKS, Mode, Picture, drawn

PANEL, LINE, REST = 4.2, 0.27, 1.1  # inches: width of a panel, height of a line, height of the rest


def intervals(measured: Sequence[Measured]) -> Picture:
    """A panel per set of texts with a line per metric, and a dashed line at the correlation of length."""
    lines = len(measured[0].table.columns)

    def draw(figure: Figure, mode: Mode) -> None:
        panels = figure.subplots(1, len(measured), sharey=True, squeeze=False)[0]
        for axes, texts in zip(panels, measured, strict=True):
            _draw(axes, texts, mode)

    description = "Spearman's rho with people and its 95% interval; dashed: length alone"
    size = (PANEL * len(measured) + 1.2, LINE * lines + REST)
    return drawn("table2", "Metrics against people", description, size, draw)


def _draw(axes: Axes, measured: Measured, mode: Mode) -> None:
    labels = list(measured.table.columns)
    for line, label in enumerate(labels):
        correlation = measured.result.correlations[label].average
        if np.isnan(correlation.value):
            continue
        colour = COLOURS[_family(label)]
        axes.plot([correlation.low, correlation.high], [line, line], color=colour, solid_capstyle="round")
        axes.plot([correlation.value], [line], marker="o", markersize=5, color=colour)
    axes.axvline(measured.estimates[LENGTH].value, color=INKS[mode], linestyle="--", linewidth=1, alpha=0.6)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)  # the first on top
    axes.grid(False, axis="y")
    axes.set_xlabel("Spearman's rho")
    axes.set_title(f"{measured.name}, n = {len(measured.table):,}", loc="left")


def _family(label: str) -> int:
    """The colour: static movers, contextual movers, ROUGE-L, length."""
    if label == LENGTH:
        return 6
    return 0 if label.endswith("static") else 1 if label.endswith("contextual") else 2
