"""Tables. Scores are shown times 100, properties in their own unit, and a mean always with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlsum.pages.templates import fragment

if TYPE_CHECKING:
    from rlsum.evaluation.statistics import Interval

SCALE = 100  # factor of scores, which most metrics give in [0, 1]; files and JSON hold raw scores
DASH = "\N{EN DASH}"
UNDEFINED = DASH


@dataclass(frozen=True)
class Cell:
    """A value, and small print beneath it; ``mark`` makes the value bold."""

    text: str
    detail: str = ""
    mark: bool = False


@dataclass(frozen=True)
class Table:
    """A table ready to be shown. Every row has as many cells as ``header`` has names; the first names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """The values as a pandas DataFrame of texts, rows by their names; pandas must be installed."""
        import pandas

        rows = [[cell.text for cell in row] for row in self.rows]
        return pandas.DataFrame(rows, columns=list(self.header)).set_index(self.header[0])

    def _repr_html_(self) -> str | None:
        return fragment([self], {})


Row = Iterable[str | Cell]


def text_table(caption: str, header: Sequence[str], rows: Iterable[Row], notes: Iterable[str] = ()) -> Table:
    """A table of plain texts, and of cells where small print or a mark is needed."""
    cells = (tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows)
    return Table(caption, tuple(header), tuple(cells), tuple(notes))


def interval_cell(interval: Interval, scale: float, digits: int, of: int | None = None) -> Cell:
    """Mean above, interval beneath, both times ``scale``. ``of`` items: beside the mean the share that it is of."""
    if math.isnan(interval.mean):
        return Cell(UNDEFINED)
    share = f" ({interval.n:,} of {of:,})" if of is not None and interval.n < of else ""
    text = f"{interval.mean * scale:.{digits}f}{share}"
    if math.isnan(interval.low):
        return Cell(text, "one item" if interval.n == 1 else "no interval")
    return Cell(text, f"{interval.low * scale:.{digits}f}{DASH}{interval.high * scale:.{digits}f}")


def difference_cell(
    mean: float, low: float, high: float, scale: float = SCALE, digits: int = 2, mark: bool = False, note: str = ""
) -> Cell:
    """A signed difference above; beneath its interval, if it has one, and a ``note``; numbers are times ``scale``."""
    if math.isnan(mean):
        return Cell(UNDEFINED, note)
    mean, low, high = (scale * value for value in (mean, low, high))
    interval = "" if math.isnan(low) else f"{low:+.{digits}f} to {high:+.{digits}f}"
    return Cell(f"{mean:+.{digits}f}", ", ".join(filter(None, (interval, note))), mark)


def p_text(p: float) -> str:
    """A p-value with four digits, the resolution of 10,000 resamples; a smaller one is not shown as zero."""
    if math.isnan(p):
        return UNDEFINED
    return "< .0001" if p < 0.00005 else f"{p:.4f}"


def joined(names: Sequence[str]) -> str:
    """Names in running text: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def p_words(p: float) -> str:
    """A p-value in running text."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}"
