"""Scenarios: alternative assumptions of a plan, from a CSV with one row each. Their power is in ``plan.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from human_eval.formatting import counted
from human_eval.planning.assumptions import Assumptions
from human_eval.planning.design import PlannedDesign
from rlsum.errors import UserError
from rlsum.readers import DAMAGED, csv_file, encoding_problem

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
    cells = {name: row[name] for name in ASSUMED if row.get(name)}
    values: dict[str, Any] = {**asdict(assumptions), "judges": judges, **cells}
    try:
        judges = PlannedDesign(judges=values.pop("judges")).judges
        assumed = Assumptions(**values)
    except ValidationError as error:
        name, fault = str(error.errors()[0]["loc"][0]), error.errors()[0]["msg"]
        raise UserError(f"{where}: {name} {row[name]!r}: {fault.replace('Input should', 'must')}") from error
    label = ", ".join(f"{name} {cell}" for name, cell in cells.items())
    return Scenario(row.get(NAME) or label, assumed, judges)
