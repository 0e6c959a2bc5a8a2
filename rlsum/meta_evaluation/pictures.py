"""The picture of a meta-evaluation: each metric against people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rlsum.evaluation.rows import Floats
from rlsum.meta_evaluation.scores import ScoreTable
from rlsum.pages.pictures.drawing import COLOURS, Mode, Picture, drawn, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (3.7, 2.9)  # inches
LONGEST = 34  # letters of a metric's label
COLUMNS = 3
BINS = 10


def scatter(table: ScoreTable) -> Picture:
    """Every column against the human score: a dot a text, and the mean human score in bins of equally many texts."""
    labels = list(table.columns)
    columns = min(COLUMNS, len(labels))
    rows = -(-len(labels) // columns)

    def draw(figure: Figure, _: Mode) -> None:
        for number, label in enumerate(labels, 1):
            axes = figure.add_subplot(rows, columns, number)
            _draw_scatter(axes, table.scores(label), table.human)
            axes.set_title(short_name(label, LONGEST), loc="left")
            axes.set_xlabel("score" if table.columns[label].kind == "metric" else "length")
            axes.set_ylabel(f"people: {table.score}")

    return drawn(
        "scatter",
        "Metrics against people",
        f"Each dot is a text. The line is the mean human score in {BINS} bins of equally many texts.",
        (PANEL[0] * columns, PANEL[1] * rows),
        draw,
    )


def binned_means(scores: Floats, human: Floats, bins: int = BINS) -> tuple[Floats, Floats]:
    """Mean score and mean human score (b,) of up to ``bins`` bins of the n > 0 texts; equal scores share a bin."""
    order = np.argsort(scores, kind="stable")
    scores, human = scores[order], human[order]
    edges = np.searchsorted(scores, np.quantile(scores, np.linspace(0, 1, bins + 1)[1:-1]))
    groups = [group for group in np.split(np.arange(len(scores)), np.unique(edges)) if len(group)]
    return np.array([scores[group].mean() for group in groups]), np.array([human[group].mean() for group in groups])


def _draw_scatter(axes: Axes, scores: Floats, human: Floats) -> None:
    defined = ~np.isnan(scores)
    if not defined.any():
        axes.text(0.5, 0.5, "undefined everywhere", ha="center", va="center", transform=axes.transAxes)
        return
    alpha = min(0.6, max(0.06, 5 / math.sqrt(len(scores))))
    scores, human = scores[defined], human[defined]
    axes.scatter(scores, human, s=7, color=COLOURS[0], alpha=alpha, linewidths=0)
    axes.plot(*binned_means(scores, human), color=COLOURS[1], marker=".")
