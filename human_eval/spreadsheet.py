"""What spreadsheets make of CSV: cells that none of them calculates, and the marks that they write between cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

# What spreadsheets calculate, in both widths.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """CSV of rows, the header among them; texts are made neutral, numbers stay numbers."""
    file = io.StringIO()
    csv.writer(file).writerows([neutral(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return file.getvalue()


def neutral(cell: str) -> str:
    """The cell, or the cell behind an apostrophe where a spreadsheet would calculate it."""
    return f"'{cell}" if cell.lstrip(" \u00a0\ufeff").startswith(FORMULA_STARTS) else cell


def delimiter_of(text: str) -> str:
    """What stands between the cells of a CSV: spreadsheets write semicolons where the comma is the decimal mark."""
    header = text.split("\n", 1)[0]
    return max((",", ";", "\t"), key=header.count)
