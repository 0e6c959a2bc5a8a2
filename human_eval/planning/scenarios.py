"""Scenarios: alternative assumptions of a plan, from a CSV with one row each."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from human_eval.formatting import counted, delimiter_of
from human_eval.planning.simulation import Assumptions
from rlsum.errors import UserError
from rlsum.files import bytes_of

NAME = "scenario"
# Name of the option and column -> whether a value is valid, and the valid values in words.
RANGES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "preference": (lambda value: 0.5 < value < 1, "a number above .5 and below 1, such as 0.6"),
    "ties": (lambda value: 0 <= value < 1, "a number from 0 to below 1, such as 0.2"),
    "correlation": (lambda value: 0 <= value <= 1, "a number from 0 to 1, such as 0.3"),
    "spread": (lambda value: 0 <= value < 0.5, "a number from 0 to below .5, such as 0.1"),
    "judges": (lambda value: 1 <= value <= 100 and value % 1 == 0, "a whole number from 1 to 100"),
}
COLUMNS = (NAME, *RANGES)
MOST = 20  # rows; more curves cannot be distinguished in one picture


@dataclass(frozen=True)
class Scenario:
    """Assumptions and judges per item; ``name`` is the label in tables and pictures."""

    name: str
    assumptions: Assumptions
    judges: int


def read_scenarios(path: Path, assumptions: Assumptions, judges: int) -> tuple[Scenario, ...]:
    """The scenarios of a CSV file with some of the `COLUMNS`.

    ``assumptions`` and ``judges`` replace empty cells and missing columns.
    Raises UserError naming the row (as a spreadsheet numbers it), the column and the invalid value.
    """
    header, rows = _table(path)
    if not 1 <= len(rows) <= MOST:
        raise UserError(
            f"--assumptions {path}: {counted(len(rows), 'row')} below the header; give one row per scenario, up to "
            f"{MOST}, since more curves cannot be distinguished in the picture"
        )
    scenarios: dict[str, tuple[int, Scenario]] = {}
    for number, cells in rows:
        where = f"--assumptions {path}, row {number}"
        if len(cells) != len(header):
            raise UserError(
                f"{where}: {counted(len(cells), 'cell')}, but the header has {len(header)}; write numbers with a "
                "decimal point, such as 0.6, and put names that contain a comma in quotes"
            )
        scenario = _scenario(where, dict(zip(header, cells, strict=True)), assumptions, judges)
        earlier, _ = scenarios.setdefault(scenario.name, (number, scenario))
        if earlier != number:
            raise UserError(f"{where}: duplicate {NAME} {scenario.name!r}, also in row {earlier}; rename one")
    return tuple(scenario for _, scenario in scenarios.values())


def check_range(where: str, name: str, value: float) -> None:
    """Raise UserError, beginning with ``where``, for an invalid value of the option ``name``."""
    is_valid, expected = RANGES[name]
    if not is_valid(value):
        raise UserError(f"{where}: expected {expected}")


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in lower case, and the other rows that are not empty, each with its number in a spreadsheet."""
    try:
        text = bytes_of(path).decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
        rows = [(number, [" ".join(cell.split()) for cell in cells]) for number, cells in enumerate(reader, 1)]
    except OSError as error:
        raise UserError(f"--assumptions {path}: cannot be read ({error.strerror}); give a CSV file") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"--assumptions {path}: not a CSV file ({error}); save it as 'CSV UTF-8'") from error
    rows = [(number, cells) for number, cells in rows if any(cells)]
    if not rows:
        raise UserError(
            f"--assumptions {path}: empty; give a header with some of {', '.join(COLUMNS)} and one row per scenario"
        )
    header = [name.lower() for name in rows[0][1]]
    for name in header:
        if name not in COLUMNS:
            raise UserError(f"--assumptions {path}: unknown column {name!r}; the columns are {', '.join(COLUMNS)}")
        if header.count(name) > 1:
            raise UserError(f"--assumptions {path}: duplicate column {name}; keep one")
    if header == [NAME]:
        raise UserError(f"--assumptions {path}: no column with assumptions; add one or more of {', '.join(RANGES)}")
    return header, rows[1:]


def _scenario(where: str, row: Mapping[str, str], assumptions: Assumptions, judges: int) -> Scenario:
    """The scenario of a row. Without a name it is labelled by its cells."""
    values: dict[str, float] = {}
    for name, usual in {**asdict(assumptions), "judges": judges}.items():
        cell = row.get(name)
        try:
            values[name] = float(cell) if cell else usual
        except ValueError:
            values[name] = math.nan
        source = f"{name} {cell!r}" if cell else f"{name} is that of --{name} {usual:g}"
        check_range(f"{where}: {source}", name, values[name])
    label = ", ".join(f"{name} {row[name]}" for name in RANGES if row.get(name))
    judges = int(values.pop("judges"))
    return Scenario(row.get(NAME) or label, Assumptions(**values), judges)
