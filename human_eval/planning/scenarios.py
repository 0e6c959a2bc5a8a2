"""Scenarios: alternative assumptions of a plan, from a CSV with one row each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from human_eval.formatting import counted
from human_eval.planning.ranges import check_range
from human_eval.planning.simulation import Assumptions
from rlsum.errors import UserError
from rlsum.readers.tables import csv_file
from rlsum.readers.text import DAMAGED, encoding_problem

NAME = "scenario"
ASSUMED = (*(field.name for field in fields(Assumptions)), "judges")
COLUMNS = (NAME, *ASSUMED)
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
    Raises UserError naming the line, the column and the invalid value.
    """
    rows = _rows(path)
    if not 1 <= len(rows) <= MOST:
        raise UserError(
            f"--assumptions {path}: {counted(len(rows), 'row')} below the header; give a header with some of "
            f"{', '.join(COLUMNS)} and one row a scenario, up to {MOST}: a picture shows no more curves apart"
        )
    scenarios: dict[str, tuple[str, Scenario]] = {}
    for where, cells in rows:
        scenario = _scenario(where, cells, assumptions, judges)
        earlier, _ = scenarios.setdefault(scenario.name, (where, scenario))
        if earlier != where:
            raise UserError(f"{where}: duplicate {NAME} {scenario.name!r}, also in {earlier}; rename one")
    return tuple(scenario for _, scenario in scenarios.values())


def _rows(path: Path) -> list[tuple[str, dict[str, str]]]:
    """The place and the cells of each row, by the names of the columns in lower case."""
    rows = []
    try:
        for read in csv_file(path):
            where = f"--assumptions {read.where}"
            cells = {name.lower(): " ".join(cell.split()) for name, cell in read.fields.items()}
            if read.problem or any(map(encoding_problem, cells.values())):
                numbers = "write numbers with a decimal point, such as 0.6, and names with a comma in quotes"
                raise UserError(f"{where}: {read.problem or 'not UTF-8'}; save it as 'CSV UTF-8', {numbers}")
            if unknown := [name for name in cells if name not in COLUMNS]:
                raise UserError(f"{where}: unknown column {unknown[0]!r}; the columns are {', '.join(COLUMNS)}")
            if not cells.keys() & set(ASSUMED):
                raise UserError(f"{where}: no column with assumptions; add one or more of {', '.join(ASSUMED)}")
            rows.append((where, cells))
    except DAMAGED as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"--assumptions {path}: cannot be read ({why}); give a CSV file") from error
    return [(where, cells) for where, cells in rows if any(cells.values())]


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
    label = ", ".join(f"{name} {row[name]}" for name in ASSUMED if row.get(name))
    judges = int(values.pop("judges"))
    return Scenario(row.get(NAME) or label, Assumptions(**values), judges)
