"""Pictures of a meta-evaluation: each metric against people, and the tests between metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlsum.evaluation.rows import Floats
from rlsum.meta_evaluation.evaluation import CORRECTION, Result
from rlsum.meta_evaluation.scores import ScoreTable
from rlsum.pages.pictures.drawing import COLOURS, INKS, PAPERS, Mode, Picture, drawn, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (3.7, 2.9)  # inches
LONGEST = 34  # letters of a metric's label
COLUMNS = 3
BINS = 10
LEGIBLE = 16  # metrics; the cells of larger heat maps hold no numbers
STEPS = (0.01, 0.001)  # p-values below which the cell of a detected difference gets darker
SHADES = (0.18, 0.4, 0.65, 0.95)  # shares of the colour: of no difference, of one, then at each of STEPS


def heat_map(result: Result) -> Picture:
    """Rows against columns: blue where the row agrees better with people, orange where the column does."""
    labels = list(result.correlations)
    side = 0.62 * len(labels) + 2.6
    width = side + 0.09 * max(len(short_name(label, LONGEST)) for label in labels)
    steps = ", ".join(f"{step:g}"[1:] for step in (result.significance, *STEPS))

    def draw(figure: Figure, mode: Mode) -> None:
        _draw_map(figure.add_subplot(), labels, result, mode)

    return drawn(
        f"tests-{result.statistic}",
        f"Differences between metrics: {result.statistic}, {result.level}",
        f"Row minus column, with p after {CORRECTION}'s correction. Blue: the row agrees better with people; orange: "
        f"the column does; darker at p < {steps}; grey: no difference detected; no colour: not tested.",
        (width, side),
        draw,
    )


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


def _draw_map(axes: Axes, labels: Sequence[str], result: Result, mode: Mode) -> None:
    from matplotlib.colors import to_rgb

    paper, ink = np.array(to_rgb(PAPERS[mode])), INKS[mode]
    tests = {(test.a, test.b): (test.difference, test) for test in result.tests}
    tests |= {(test.b, test.a): (0.0 - test.difference, test) for test in result.tests}
    shades = np.tile(paper, (len(labels), len(labels), 1))
    for row, a in enumerate(labels):
        for column, b in enumerate(labels):
            if a == b:
                continue
            difference, test = tests[a, b]
            p = test.p_holm
            strength = 1 + sum(p < step for step in STEPS) if result.detected(test) else 0
            full = COLOURS[6] if strength == 0 else COLOURS[0 if difference > 0 else 1]
            if not math.isnan(p):
                shades[row, column] = SHADES[strength] * np.array(to_rgb(full)) + (1 - SHADES[strength]) * paper
            if len(labels) <= LEGIBLE:
                p_text = "p<.001" if p < 0.001 else f"p={p:.3f}".replace("=0.", "=.")
                text = "not tested" if math.isnan(p) else f"{difference:+.3f}\n{p_text}"
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
