"""A table of assumptions: a CSV with a row for each scenario that a plan has to reckon with."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from human_eval.formatting import counted, delimiter_of
from human_eval.planning.simulation import Assumptions
from rlsum.errors import UserError

NAME = "scenario"
# What a plan assumes, what of it makes sense, and that in words; options and columns have these names.
RANGES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "preference": (lambda value: 0.5 < value < 1, "a number above .5 and below 1, such as 0.6"),
    "ties": (lambda value: 0 <= value < 1, "a number from 0 to below 1, such as 0.2"),
    "correlation": (lambda value: 0 <= value <= 1, "a number from 0 to 1, such as 0.3"),
    "judges": (lambda value: value >= 1 and value % 1 == 0, "a whole number, 1 or more"),
}
COLUMNS = (NAME, *RANGES)
MOST = 20  # rows whose curves can be told apart in one picture


@dataclass(frozen=True)
class Scenario:
    """How people may vote, and with how many judges of an item; ``name`` is what tables and pictures call it."""

    name: str
    assumptions: Assumptions
    judges: int


def read_scenarios(path: Path, assumptions: Assumptions, judges: int) -> tuple[Scenario, ...]:
    """The scenarios of a CSV file with some of the `COLUMNS`; an empty cell, or a missing column, is as in
    ``assumptions`` and ``judges``.

    Raises UserError naming the row (as a spreadsheet numbers it), the column and the value that cannot be used.
    """
    (_, written), *rows = _table(path)
    header = [name.lower() for name in written]
    _check_header(path, header)
    if not 1 <= len(rows) <= MOST:
        raise UserError(
            f"--assumptions {path}: {counted(len(rows), 'row')} under the header; give one for each scenario, up to "
            f"{MOST}, for more curves cannot be told apart in the picture"
        )
    found: dict[str, tuple[int, Scenario]] = {}
    for number, cells in rows:
        where = f"--assumptions {path}, row {number}"
        if len(cells) != len(header):
            raise UserError(
                f"{where}: {counted(len(cells), 'cell')}, but the header has {len(header)}; write numbers with a "
                "point, such as 0.6, and names with a comma in them in quotes"
            )
        made = _scenario(where, dict(zip(header, cells, strict=True)), Scenario("", assumptions, judges))
        earlier, _ = found.setdefault(made.name, (number, made))
        if earlier != number:
            raise UserError(f"{where}: {made.name!r} is the name of row {earlier}; give each a {NAME} of its own")
    return tuple(made for _, made in found.values())


def check_range(where: str, name: str, value: float) -> None:
    """Raise UserError, beginning with ``where``, for a value of what ``name`` is that makes no sense."""
    right, expected = RANGES[name]
    if not right(value):
        raise UserError(f"{where} {value:g}: expected {expected}")


def _table(path: Path) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, the header first, each with its number in a spreadsheet."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
        rows = [(number, [" ".join(cell.split()) for cell in cells]) for number, cells in enumerate(reader, 1)]
    except OSError as error:
        raise UserError(f"--assumptions {path}: cannot be read ({error.strerror}); give a CSV file") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"--assumptions {path}: no CSV ({error}); save it as 'CSV UTF-8'") from error
    rows = [(number, cells) for number, cells in rows if any(cells)]
    if not rows:
        raise UserError(
            f"--assumptions {path}: empty; give a header with some of {', '.join(COLUMNS)}, and a row for each scenario"
        )
    return rows


def _check_header(path: Path, header: list[str]) -> None:
    for name in header:
        if name not in COLUMNS:
            raise UserError(f"--assumptions {path}: unknown column {name!r}; the columns are {', '.join(COLUMNS)}")
        if header.count(name) > 1:
            raise UserError(f"--assumptions {path}: column {name} stands there twice; keep one")
    if header == [NAME]:
        raise UserError(f"--assumptions {path}: no column says what is assumed; add one or more of {', '.join(RANGES)}")


def _scenario(where: str, row: Mapping[str, str], usual: Scenario) -> Scenario:
    """The scenario of a row; one without a name is called by what it says."""
    written = {name: row[name] for name in RANGES if row.get(name)}
    for name, value in {**asdict(usual.assumptions), "judges": usual.judges}.items():
        if name not in written:
            check_range(f"{where}: its {name} is as in --{name}", name, value)
    values = {name: _number(where, name, cell) for name, cell in written.items()}
    judges = int(values.pop("judges", usual.judges))
    said = ", ".join(f"{name} {cell}" for name, cell in written.items())
    return Scenario(row.get(NAME) or said, replace(usual.assumptions, **values), judges)


def _number(where: str, name: str, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    right, expected = RANGES[name]
    if not right(value):
        raise UserError(f"{where}: {name} {written!r}: expected {expected}")
    return value
