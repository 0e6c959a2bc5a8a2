"""Pictures of a meta-evaluation: each metric against people, and which differences between metrics are real."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rlsum.evaluation.significance import MetricTest
from rlsum.meta_evaluation.evaluation import MetaEvaluation, Result
from rlsum.meta_evaluation.scores import ScoreTable
from rlsum.pages.pictures import COLOURS, INKS, PAPERS, Mode, Picture, drawn, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

PANEL = (3.7, 2.9)  # inches
LONGEST = 34  # letters of a metric's label
COLUMNS = 3
BINS = 10
LEGIBLE = 16  # metrics up to which the cells of a heat map hold numbers
STEPS = (0.05, 0.01, 0.001)  # p-values at which a cell becomes darker


def pictures(evaluation: MetaEvaluation) -> list[Picture]:
    """The heat map of each statistic's tests, and the scatter plots."""
    maps = [heat_map(result) for result in evaluation.results if len(result.correlations) > 1]
    return [*maps, scatter(evaluation.table)]


def heat_map(result: Result) -> Picture:
    """Rows against columns: blue where the row is closer to people, orange where the column is, by p after Holm."""
    labels = list(result.correlations)
    side = 0.62 * len(labels) + 2.6
    width = side + 0.09 * max(len(short_name(label, LONGEST)) for label in labels)

    def draw(figure: Figure, mode: Mode) -> None:
        _draw_map(figure.add_subplot(), labels, result.tests, mode)

    return drawn(
        f"tests-{result.statistic}",
        f"Which differences are real: {result.statistic}, {result.level}",
        "Row less column, p beneath (Holm). Blue: the row agrees better with people; orange: the column does; "
        "darker at p < .05, .01, .001; grey: no difference detected.",
        (width, side),
        draw,
    )


def scatter(table: ScoreTable) -> Picture:
    """Every column against the human score: a dot a text, and the mean human score in ten equal shares of the texts."""
    labels = list(table.columns)
    columns = min(COLUMNS, len(labels))
    rows = -(-len(labels) // columns)

    def draw(figure: Figure, mode: Mode) -> None:
        for place, label in enumerate(labels, 1):
            axes = figure.add_subplot(rows, columns, place)
            _draw_scatter(axes, table.scores(label), table.human, mode)
            axes.set_title(short_name(label, LONGEST), loc="left")
            axes.set_xlabel("score" if table.columns[label].kind == "metric" else "length")
            axes.set_ylabel(f"people: {table.score}")

    return drawn(
        "scatter",
        "Metrics against people",
        f"A dot a text; the line is the mean human score in {BINS} shares of the texts, from low to high scores.",
        (PANEL[0] * columns, PANEL[1] * rows),
        draw,
    )


def binned_means(scores: Floats, human: Floats, bins: int = BINS) -> tuple[Floats, Floats]:
    """Mean score and mean human score (b,) in shares of the n > 0 texts by score; equal scores stay together."""
    order = np.argsort(scores, kind="stable")
    scores, human = scores[order], human[order]
    edges = np.searchsorted(scores, np.quantile(scores, np.linspace(0, 1, bins + 1)[1:-1]))
    parts = [part for part in np.split(np.arange(len(scores)), np.unique(edges)) if len(part)]
    return np.array([scores[part].mean() for part in parts]), np.array([human[part].mean() for part in parts])


def _draw_scatter(axes: Axes, scores: Floats, human: Floats, mode: Mode) -> None:
    kept = ~np.isnan(scores)
    if not kept.any():
        axes.text(0.5, 0.5, "undefined everywhere", ha="center", va="center", transform=axes.transAxes)
        return
    alpha = min(0.6, max(0.06, 40 / math.sqrt(len(scores)) / 8))
    axes.scatter(scores[kept], human[kept], s=7, color=COLOURS[0], alpha=alpha, linewidths=0)
    axes.plot(*binned_means(scores[kept], human[kept]), color=COLOURS[1], marker=".")


def _draw_map(axes: Axes, labels: Sequence[str], tests: Sequence[MetricTest], mode: Mode) -> None:
    from matplotlib.colors import to_rgb

    paper, ink = np.array(to_rgb(PAPERS[mode])), INKS[mode]
    found = {pair: cell for test in tests for pair, cell in _cells(test).items()}
    shades = np.tile(paper, (len(labels), len(labels), 1))
    for row, a in enumerate(labels):
        for column, b in enumerate(labels):
            if a == b:
                continue
            difference, p = found[a, b]
            strength = _strength(p)
            full = np.array(to_rgb(COLOURS[0] if difference > 0 else COLOURS[1]) if strength else to_rgb(COLOURS[6]))
            share = (0.18, 0.4, 0.65, 0.95)[strength]
            shades[row, column] = share * full + (1 - share) * paper
            if len(labels) <= LEGIBLE:
                text = "undef." if math.isnan(p) else f"{difference:+.3f}\n{_small(p)}"
                colour = "#ffffff" if strength == 3 else ink
                axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
    axes.imshow(shades, aspect="equal")
    axes.grid(False)
    axes.tick_params(length=0)
    short = [short_name(label, LONGEST) for label in labels]
    axes.set_xticks(range(len(labels)), short, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(labels)), short)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cells(test: MetricTest) -> Mapping[tuple[str, str], tuple[float, float]]:
    return {
        (test.a, test.b): (test.difference, test.p_holm),
        (test.b, test.a): (0.0 - test.difference, test.p_holm),
    }


def _strength(p: float) -> int:
    return 0 if math.isnan(p) else sum(p < step for step in STEPS)


def _small(p: float) -> str:
    return "p<.001" if p < 0.001 else f"p={p:.3f}".replace("=0.", "=.")
