"""A table of results, in full for a CSV file and rounded for reading."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlsum.pages.markdown import to_markdown
from rlsum.pages.table import UNDEFINED, Cell, Table

NOT_AVAILABLE = "not available"

Value = str | int | float
Row = Mapping[str, Value]


@dataclass(frozen=True)
class Results:
    """``rows`` all have the same columns, in the order in which they are shown; ``notes`` follow the table."""

    name: str
    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Title, table and notes; numbers are rounded, NaN is a dash."""
        header = tuple(self.rows[0]) if self.rows else ("no rows",)
        cells = tuple(tuple(Cell(shown(row[column])) for column in header) for row in self.rows)
        return to_markdown([Table(self.title, header, cells, tuple(self.notes))]) + "\n"

    def write_csv(self, folder: Path) -> Path:
        """``folder/NAME.csv`` with numbers in full, NaN as an empty cell."""
        path = folder / f"{self.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]) if self.rows else [])
            writer.writeheader()
            for row in self.rows:
                writer.writerow({column: "" if _missing(value) else value for column, value in row.items()})
        return path


def shown(value: Value) -> str:
    """A value for reading: text unchanged, ``.123``, ``-.500``, ``1,250``, a dash for NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return UNDEFINED if _missing(value) else number(value)


def number(value: float) -> str:
    """Three decimals without a zero before the point; four below a tenth."""
    value = round(value, 4) + 0.0  # no negative zero
    digits = f"{value:.3f}" if abs(value) >= 0.0995 or value == 0 else f"{value:.4f}"
    return digits.replace("0.", ".", 1) if abs(value) < 1 else digits


def within(low: float, high: float) -> str:
    """An interval in words; "" if undefined."""
    return "" if math.isnan(low) else f"{number(low)} to {number(high)}"


def _missing(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)
