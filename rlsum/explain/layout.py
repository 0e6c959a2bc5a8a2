"""Positions of the parts of a picture, in pixels from the upper left corner.

Flows follow Figure 1 of Clark et al. 2019: the candidate on the left, the reference on the right, each sentence above
its words; the width of a band between two items is the weight that moves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rewards.explain import ExplainedItem, Explanation


FONT = 13.0
ADVANCE = 0.6 * FONT  # mean width of a letter; wide letters (Chinese) take two
LINE = 1.35 * FONT
TEXT = 300.0  # width of a column of texts
GAP = 400.0  # between the two columns, for the bands
INDENT = 18.0
BAR = 5.0
MARGIN = 16.0
TALLEST = 40.0  # bar of the heaviest item
SENTENCE_LINES = 3
SPREAD = 60.0  # most extra room for each item of the shorter text
LABEL = (30.0, 15.0)  # width and height of the distance on a band
CELL = 24.0
NUMBERED = 40  # most tokens of a text whose cosines are written in the cells
LABEL_POSITIONS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86)  # along a band, in order of preference
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Node:
    """An item: its lines of text from ``y`` down, and a bar at ``x`` whose height is the item's weight."""

    item: ExplainedItem
    lines: tuple[str, ...]
    x: float
    y: float
    bar_y: float
    bar_height: float


@dataclass(frozen=True)
class Band:
    """A flow between two bars: the middles ``(x, y)`` of its ends, its width, and the place of its label, if any."""

    kind: str
    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    weight: float
    distance: float
    source: int
    target: int
    label: tuple[float, float] | None = None

    def at(self, t: float) -> tuple[float, float]:
        """The point at ``t`` in [0, 1] of the middle line, a cubic curve that is level at both ends."""
        (x0, y0), (x1, y1) = self.start, self.end
        along, across = (1.5 * t - 1.5 * t**2 + t**3, 3 * t**2 - 2 * t**3)  # Bezier, both controls at the middle of x
        return x0 + along * (x1 - x0), y0 + across * (y1 - y0)


@dataclass(frozen=True)
class FlowLayout:
    """The picture of a transport plan."""

    explanation: Explanation
    width: float
    height: float
    candidate: tuple[Node, ...]
    reference: tuple[Node, ...]
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class Cosine:
    """A cosine of a matrix; ``strength`` in [0, 1] is the opacity of its colour, ``best`` frames it."""

    row: int
    column: int
    x: float
    y: float
    value: float
    strength: float
    best: bool


@dataclass(frozen=True)
class MatrixLayout:
    """The picture of a matrix of cosines, matches or other values, whose cells begin at ``left`` and ``top``."""

    explanation: Explanation
    width: float
    height: float
    left: float
    top: float
    numbered: bool
    cells: tuple[Cosine, ...]


PictureLayout = FlowLayout | MatrixLayout


def layout_of(explanation: Explanation) -> PictureLayout:
    """Where everything is in the picture of an explanation, as PNG and on a page."""
    return flow_layout(explanation) if explanation.form == "flow" else matrix_layout(explanation)


def matrix_layout(explanation: Explanation) -> MatrixLayout:
    """The picture of the matrix: rows are tokens of the candidate, columns those of the reference."""
    values, cosines = explanation.values, explanation.form == "similarity"
    rows, columns = values.shape
    sides = explanation.candidate, explanation.reference
    left, top = (20 + max(width_of(short(item.text)) for item in side) for side in sides)
    best_of_row, best_of_column = values.argmax(axis=1), values.argmax(axis=0)
    cells = []
    for (row, column), value in np.ndenumerate(values):
        best = cosines and bool(best_of_row[row] == column or best_of_column[column] == row)
        place = left + column * CELL, top + row * CELL
        cells.append(Cosine(row, column, *place, float(value), min(abs(float(value)), 1.0), best))
    width, height = max(440.0, left + columns * CELL + top), top + rows * CELL + MARGIN
    numbered = explanation.form != "matches" and max(rows, columns) <= NUMBERED
    return MatrixLayout(explanation, width, height, left, top, numbered, tuple(cells))


def flow_layout(explanation: Explanation) -> FlowLayout:
    """The picture of a transport plan."""
    heaviest = max(item.weight for item in (*explanation.candidate, *explanation.reference))
    scale = TALLEST / heaviest
    columns = (explanation.candidate, MARGIN + TEXT), (explanation.reference, MARGIN + TEXT + GAP)
    ends = [_column(items, x, scale, 0.0)[1] for items, x in columns]
    spreads = [min(SPREAD, (max(ends) - end) / len(items)) for end, (items, _) in zip(ends, columns, strict=True)]
    (left, left_end), (right, right_end) = (
        _column(items, x, scale, spread) for (items, x), spread in zip(columns, spreads, strict=True)
    )
    bands = _bands(explanation, left, right, scale)
    width, height = 2 * (MARGIN + TEXT) + GAP, max(left_end, right_end) + MARGIN
    return FlowLayout(explanation, width, height, tuple(left), tuple(right), tuple(bands))


def one_line(text: str) -> str:
    """The text on one line, with a space for what is not printable."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def width_of(text: str) -> float:
    """The approximate width of a text."""
    widths = (2 if unicodedata.east_asian_width(sign) in "WF" else unicodedata.combining(sign) == 0 for sign in text)
    return ADVANCE * sum(widths)


def short(token: str) -> str:
    """A token as the name of a row or a column."""
    token = one_line(token)
    return token if len(token) <= 16 else token[:15] + ELLIPSIS


def cosine_text(value: float) -> str:
    """A cosine that fits a cell: ``.42``, ``-.07``, ``1.00``."""
    text = f"{value:.2f}"
    return ".00" if text in ("0.00", "-0.00") else text.replace("0.", ".", 1) if abs(value) < 0.995 else text


def wrapped(text: str, width: float, max_lines: int) -> tuple[str, ...]:
    """Up to ``max_lines`` lines of up to ``width``; long words are broken, and a cut text ends in an ellipsis."""
    lines = [""]
    for word in one_line(text).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer) <= width:
            lines[-1] = longer
            continue
        while width_of(word) > width:
            cut = next(length for length in range(len(word), 0, -1) if width_of(word[:length]) <= width)
            lines.append(word[:cut])
            word = word[cut:]
        lines.append(word)
    lines = [line for line in lines if line] or [""]
    if len(lines) <= max_lines:
        return tuple(lines)
    last = lines[max_lines - 1]
    while width_of(last + ELLIPSIS) > width:
        last = last[:-1]
    return (*lines[: max_lines - 1], last + ELLIPSIS)


def _column(items: Sequence[ExplainedItem], x: float, scale: float, spread: float) -> tuple[list[Node], float]:
    """The nodes in the order of the items, with ``spread`` extra room between them, and the lower end of the column."""
    order = sorted(range(len(items)), key=lambda n: (items[n].sentence, items[n].kind != "sentence", items[n].place))
    nodes: dict[int, Node] = {}
    y, sentence = MARGIN, 0
    for n in order:
        item = items[n]
        if item.sentence != sentence:
            y, sentence = y + LINE / 2, item.sentence
        indent = INDENT if item.kind == "word" else 0.0
        lines = wrapped(item.text, TEXT - indent - 4 * BAR, SENTENCE_LINES if item.kind == "sentence" else 1)
        bar, text = item.weight * scale, len(lines) * LINE
        height = max(bar, text)
        nodes[n] = Node(item, lines, x, y + (height - text) / 2, y + (height - bar) / 2, bar)
        y += height + 4 + spread
    return [nodes[n] for n in range(len(items))], y


def _bands(explanation: Explanation, left: list[Node], right: list[Node], scale: float) -> list[Band]:
    """Bands leave and reach a bar in the order of their other ends, so that few cross."""
    flows = explanation.flows()
    widths = [weight * scale for _, _, weight, _ in flows]
    starts = _stacked([(i, right[j].bar_y) for i, j, _, _ in flows], left, widths)
    ends = _stacked([(j, left[i].bar_y) for i, j, _, _ in flows], right, widths)
    bands: list[Band] = []
    for k, (i, j, weight, distance) in enumerate(flows):
        kinds = {left[i].item.kind, right[j].item.kind}
        kind = "mixed" if len(kinds) == 2 else kinds.pop()
        start, end = (left[i].x + BAR, starts[k]), (right[j].x - BAR, ends[k])
        band = Band(kind, start, end, widths[k], weight, distance, i, j)
        taken = [drawn.label for drawn in bands if drawn.label]
        free = (point for point in map(band.at, LABEL_POSITIONS) if _is_free(point, taken))
        bands.append(replace(band, label=next(free, None)))
    return bands


def _stacked(ends: Sequence[tuple[int, float]], nodes: Sequence[Node], widths: Sequence[float]) -> dict[int, float]:
    """Flow -> ``y`` of its end on its node's bar; ``ends``: each flow's node, and ``y`` of the bar at its other end."""
    filled = [node.bar_y for node in nodes]
    middles = {}
    for (node, _), flow in sorted((end, flow) for flow, end in enumerate(ends)):
        middles[flow] = filled[node] + widths[flow] / 2
        filled[node] += widths[flow]
    return middles


def _is_free(point: tuple[float, float], taken: Sequence[tuple[float, float]]) -> bool:
    return all(abs(point[0] - x) >= LABEL[0] or abs(point[1] - y) >= LABEL[1] for x, y in taken)
