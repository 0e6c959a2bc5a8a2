"""What a reproduction came to: tables, numbers, pictures and claims; printed, and written into a folder."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproductions.claims import Claim
from rlsum.compare.plots import Picture
from rlsum.pages.table import Cell, Table, show, to_markdown


@dataclass(frozen=True)
class Study:
    """One table or figure of a paper, made anew.

    ``rows`` are what the CSV file holds, all with the same columns; ``notes`` say what was chosen or left out.
    """

    name: str
    tables: tuple[Table, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    pictures: tuple[Picture, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = field(default=())


def claims_table(claims: Sequence[Claim]) -> Table:
    """One row a claim."""
    rows = tuple((Cell(each.text), Cell(each.verdict), Cell(each.numbers)) for each in claims)
    return Table("The paper's findings here", ("finding", "verdict", "difference x 100, 95% interval"), rows)


def write(study: Study, folder: Path) -> list[Path]:
    """The study as ``NAME.csv``, ``NAME.md`` and a PNG a picture; NaN is an empty cell. Returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if study.rows:
        written.append(folder / f"{study.name}.csv")
        with written[-1].open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(study.rows[0]))
            writer.writeheader()
            writer.writerows(
                {name: "" if _missing(value) else value for name, value in row.items()} for row in study.rows
            )
    for picture in study.pictures:
        written.append(folder / f"{picture.name}.png")
        written[-1].write_bytes(picture.light)
    written.append(folder / f"{study.name}.md")
    written[-1].write_text(markdown(study), encoding="utf-8")
    return written


def _missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def markdown(study: Study) -> str:
    """Tables, notes, pictures and claims as Markdown."""
    parts = [to_markdown(table) for table in study.tables]
    parts += study.notes
    parts += [f"![{picture.description}]({picture.name}.png)" for picture in study.pictures]
    if study.claims:
        parts.append(to_markdown(claims_table(study.claims)))
    return "\n\n".join(parts) + "\n"


def tell(study: Study) -> None:
    """Print the study on the terminal."""
    from rich.console import Console

    console = Console(soft_wrap=True)
    for table in study.tables:
        show(table, console)
    for note in study.notes:
        console.print(note, markup=False, highlight=False)
    for claim in study.claims:
        console.print(f"{claim.verdict.upper()}: {claim.text}\n    {claim.numbers}", markup=False, highlight=False)
