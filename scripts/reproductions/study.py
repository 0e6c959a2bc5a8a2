"""What a reproduction came to: tables, numbers, pictures and claims; printed, and written into a folder."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproductions.claims import Claim
from rlsum.pages import page
from rlsum.pages.blocks import Block, Bullets, Paragraph
from rlsum.pages.markdown import to_markdown
from rlsum.pages.pictures import Picture
from rlsum.pages.table import Cell, Table
from rlsum.pages.terminal import show


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
    claims = [claims_table(study.claims)] if study.claims else []
    blocks: list[Block] = [*study.tables, *map(Paragraph, study.notes), *study.pictures, *claims]
    page.write(folder, {f"{study.name}.md": to_markdown(blocks) + "\n"}, blocks)
    names = [*(f"{picture.name}.png" for picture in study.pictures), f"{study.name}.md"]
    return [*written, *(folder / name for name in names)]


def _missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def tell(study: Study) -> None:
    """Print the study on the terminal."""
    from rich.console import Console

    claims = tuple(f"{claim.verdict.upper()}: {claim.text} ({claim.numbers})" for claim in study.claims)
    show([*study.tables, *map(Paragraph, study.notes), Bullets(claims)], Console(soft_wrap=True))
