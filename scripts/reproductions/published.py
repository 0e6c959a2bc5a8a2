"""Published numbers, read from a CSV file that the user provides."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from rlsum.errors import UserError

VALUE = "value_x100"
ABSENT = "not available"


@dataclass(frozen=True)
class Entry:
    """The key of a number: for example, in ``table1``, that of RoBERTa-base on ``STS12-16``."""

    table: str
    dataset: str
    encoder: str
    metric: str
    centering: str
    statistic: str


Published = Mapping[Entry, float]  # times 100


def read_published(path: Path) -> Published:
    """The numbers of a CSV file with a column for each field of ``Entry`` and ``value_x100``.

    Raises UserError for an unreadable file, a missing column, a value that is not a number, and a duplicate.
    """
    names = [field.name for field in fields(Entry)]
    numbers: dict[Entry, float] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            missing = [name for name in (*names, VALUE) if name not in (rows.fieldnames or ())]
            if missing:
                raise UserError(f"{path}: no column {', '.join(missing)}; it needs {', '.join((*names, VALUE))}")
            for line, row in enumerate(rows, 2):
                entry = Entry(*(row[name] for name in names))
                if entry in numbers:
                    raise UserError(f"{path}:{line}: {entry} is a duplicate; remove one")
                numbers[entry] = _number(row[VALUE], f"{path}:{line}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    return numbers


def shown(value: float | None) -> str:
    """A published number with one decimal; "not available" for None and NaN."""
    return ABSENT if value is None or math.isnan(value) else f"{value:.1f}"


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: {VALUE} {text!r} is not a number") from error
