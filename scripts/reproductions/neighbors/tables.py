"""A study of the paper from plain rows, with its numbers rounded for reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reproductions.reproduction import Reproduction
from rlsum.pages.table import UNDEFINED, text_table

Value = str | int | float
Row = Mapping[str, Value]


def study(name: str, title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Reproduction:
    """A table of ``rows``, which all have the same columns, in the order in which they are shown."""
    header = tuple(rows[0]) if rows else ("no rows",)
    table = text_table(title, header, ((shown(row[column]) for column in header) for row in rows))
    return Reproduction(name, (table,), tuple(rows), notes=tuple(notes))


def shown(value: Value) -> str:
    """A value for reading: text unchanged, ``.123``, ``-.500``, ``1,250``, a dash for NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return UNDEFINED if math.isnan(value) else number(value)


def number(value: float) -> str:
    """Three decimals without a zero before the point; four below a tenth."""
    value = round(value, 4) + 0.0  # no negative zero
    digits = f"{value:.3f}" if abs(value) >= 0.0995 or value == 0 else f"{value:.4f}"
    return digits.replace("0.", ".", 1) if abs(value) < 1 else digits


def within(low: float, high: float) -> str:
    """An interval in words; "" if undefined."""
    return "" if math.isnan(low) else f"{number(low)} to {number(high)}"
