"""Where the parts of a picture stand, in pixels from the upper left corner: the same for the PNG and for the page.

Flows are laid out after Figure 1 of Clark et al. 2019: the candidate on the left, the reference on the right, each
sentence above its words; a band between two items is as wide as the weight that moves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rewards.explain import Explanation, Item

FONT = 13.0
ADVANCE = 0.6 * FONT  # mean width of a letter; wide ones (Chinese) take two
LINE = 1.35 * FONT
TEXT = 300.0  # width of a column of texts
GAP = 400.0  # between the two columns, where the bands are
INDENT = 18.0
BAR = 5.0
MARGIN = 16.0
WIDEST = 40.0  # pixels, the heaviest item's bar
SENTENCE_LINES = 3
SPREAD = 60.0  # the most a short text is spread beside a long one, pixels an item
LABEL = (30.0, 15.0)  # what the distance on a band takes
CELL = 24.0
NUMBERED = 40  # tokens a side up to which cells hold their number
PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86)  # along a band, the best first


@dataclass(frozen=True)
class Node:
    """An item: its lines of text from ``y``, and a bar at ``x`` as high as its weight."""

    item: Item
    lines: tuple[str, ...]
    x: float
    y: float
    bar_y: float
    bar_height: float


@dataclass(frozen=True)
class Band:
    """A flow from one bar to another: ``(x, y)`` of both ends' middles, its width, and where its label has room."""

    kind: str
    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    weight: float
    distance: float
    source: int
    target: int
    label: tuple[float, float] | None

    def at(self, t: float) -> tuple[float, float]:
        """A point of its middle line, ``t`` from 0 to 1: a cubic curve, level at both ends."""
        (x0, y0), (x1, y1) = self.start, self.end
        along, across = 1.5 * t - 1.5 * t**2 + t**3, 3 * t**2 - 2 * t**3  # Bezier, its two controls at the middle of x
        return x0 + along * (x1 - x0), y0 + across * (y1 - y0)


@dataclass(frozen=True)
class Flows:
    """A whole picture."""

    width: float
    height: float
    candidate: tuple[Node, ...]
    reference: tuple[Node, ...]
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class Cell:
    """A cosine of a matrix; ``strength`` in [0, 1] is how much colour it gets, ``best``: framed."""

    row: int
    column: int
    x: float
    y: float
    value: float
    strength: float
    best: bool


@dataclass(frozen=True)
class Matrix:
    """A whole picture of cosines, its cells beginning at ``left`` and ``top``."""

    width: float
    height: float
    left: float
    top: float
    numbered: bool
    cells: tuple[Cell, ...]


def matrix(explanation: Explanation) -> Matrix:
    """The picture of the cosines: the candidate's tokens are rows, the reference's columns."""
    values = explanation.values
    rows, columns = values.shape
    sides = explanation.candidate, explanation.reference
    left, top = (20 + max(width_of(short(item.text)) for item in side) for side in sides)
    best_of_row, best_of_column = values.argmax(axis=1), values.argmax(axis=0)
    cells = tuple(
        Cell(
            row,
            column,
            left + column * CELL,
            top + row * CELL,
            float(values[row, column]),
            min(abs(float(values[row, column])), 1.0),
            bool(best_of_row[row] == column or best_of_column[column] == row),
        )
        for row in range(rows)
        for column in range(columns)
    )
    width, height = max(440.0, left + columns * CELL + top), top + rows * CELL + MARGIN
    return Matrix(width, height, left, top, max(rows, columns) <= NUMBERED, cells)


def lay_out(explanation: Explanation) -> Flows:
    """The picture of a plan."""
    heaviest = max(item.weight for item in (*explanation.candidate, *explanation.reference))
    scale = WIDEST / heaviest
    columns = (explanation.candidate, MARGIN + TEXT), (explanation.reference, MARGIN + TEXT + GAP)
    ends = [_column(items, x, scale, 0.0)[1] for items, x in columns]
    spreads = [min(SPREAD, (max(ends) - end) / len(items)) for end, (items, _) in zip(ends, columns, strict=True)]
    (left, left_end), (right, right_end) = (
        _column(items, x, scale, spread) for (items, x), spread in zip(columns, spreads, strict=True)
    )
    bands = _bands(explanation, left, right, scale)
    width, height = 2 * (MARGIN + TEXT) + GAP, max(left_end, right_end) + MARGIN
    return Flows(width, height, tuple(left), tuple(right), tuple(bands))


def shown(text: str) -> str:
    """The text on one line, what cannot be printed as a space."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def width_of(text: str) -> float:
    """About how wide a text is drawn."""
    signs = (2 if unicodedata.east_asian_width(sign) in "WF" else unicodedata.combining(sign) == 0 for sign in text)
    return ADVANCE * sum(signs)


def short(token: str) -> str:
    """A token as a row or a column of a matrix is named."""
    token = shown(token)
    return token if len(token) <= 16 else token[:15] + "\N{HORIZONTAL ELLIPSIS}"


def number(value: float) -> str:
    """A cosine as short as a cell: ``.42``, ``-.07``, ``1.00``."""
    text = f"{value:.2f}"
    return ".00" if text in ("0.00", "-0.00") else text.replace("0.", ".", 1) if abs(value) < 0.995 else text


def wrapped(text: str, width: float, most: int) -> tuple[str, ...]:
    """At most so many lines of at most that width; what does not fit ends in an ellipsis, a long word is broken."""
    lines = [""]
    for word in shown(text).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        while width_of(word) > width:
            cut = next(place for place in range(len(word), 0, -1) if width_of(word[:place]) <= width)
            lines[-1], word = word[:cut], word[cut:]
            lines.append("")
        lines[-1] = word
    lines = [line for line in lines if line] or [""]
    if len(lines) <= most:
        return tuple(lines)
    last = lines[most - 1]
    while width_of(last + "\N{HORIZONTAL ELLIPSIS}") > width:
        last = last[:-1]
    return (*lines[: most - 1], last + "\N{HORIZONTAL ELLIPSIS}")


def _column(items: Sequence[Item], x: float, scale: float, spread: float) -> tuple[list[Node], float]:
    """The nodes of one text, in the order of the items, and where the column ends: sentence by sentence.

    ``spread`` is more room between two nodes, so that a short text reaches as far down as a long one.
    """
    order = sorted(range(len(items)), key=lambda n: (items[n].sentence, items[n].kind != "sentence", items[n].place))
    nodes: dict[int, Node] = {}
    y, sentence = MARGIN, 0
    for place in order:
        item = items[place]
        if item.sentence != sentence:
            y, sentence = y + LINE / 2, item.sentence
        indent = INDENT if item.kind == "word" else 0.0
        lines = wrapped(item.text, TEXT - indent - 4 * BAR, SENTENCE_LINES if item.kind == "sentence" else 1)
        bar, text = item.weight * scale, len(lines) * LINE
        height = max(bar, text)
        nodes[place] = Node(item, lines, x, y + (height - text) / 2, y + (height - bar) / 2, bar)
        y += height + 4 + spread
    return [nodes[place] for place in range(len(items))], y


def _bands(explanation: Explanation, left: list[Node], right: list[Node], scale: float) -> list[Band]:
    """Bands leave and reach a bar in the order of their other ends, so that few cross."""
    flows = explanation.flows()
    starts = _stacked(((i, right[j].bar_y, k) for k, (i, j, _, _) in enumerate(flows)), left, flows, scale)
    ends = _stacked(((j, left[i].bar_y, k) for k, (i, j, _, _) in enumerate(flows)), right, flows, scale)
    bands: list[Band] = []
    taken: list[tuple[float, float]] = []
    for k, (i, j, weight, distance) in enumerate(flows):
        kinds = {left[i].item.kind, right[j].item.kind}
        kind = "mixed" if len(kinds) == 2 else kinds.pop()
        start, end = (left[i].x + BAR, starts[k]), (right[j].x - BAR, ends[k])
        band = Band(kind, start, end, weight * scale, weight, distance, i, j, None)
        label = next((spot for spot in map(band.at, PLACES) if _free(spot, taken)), None)
        if label is not None:
            taken.append(label)
        bands.append(Band(kind, start, end, weight * scale, weight, distance, i, j, label))
    return bands


def _stacked(ends: object, nodes: list[Node], flows: Sequence[tuple], scale: float) -> dict[int, float]:
    """For each flow the height of its end on its node's bar."""
    filled = [node.bar_y for node in nodes]
    found = {}
    for node, _, flow in sorted(ends):  # type: ignore[call-overload]
        width = flows[flow][2] * scale
        found[flow] = filled[node] + width / 2
        filled[node] += width
    return found


def _free(spot: tuple[float, float], taken: Sequence[tuple[float, float]]) -> bool:
    return all(abs(spot[0] - x) >= LABEL[0] or abs(spot[1] - y) >= LABEL[1] for x, y in taken)
