"""Arguments that several commands of ``rlsum human-eval`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from human_eval.study import Study
from rlsum.errors import UserError

StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder that `rlsum human-eval build` made.")]

DATABASE = "judging.sqlite"
Database = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Database of answers (default: {DATABASE} in STUDY).")
]


def booklet_numbers(option: str, text: str, study: Study) -> list[int]:
    """The booklets (0..) that a text such as ``1-3,7`` names. Raises UserError."""
    numbers: set[int] = set()
    for span in text.split(","):
        first, _, last = span.strip().partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise UserError(f"{option} {text}: expected numbers of booklets, such as 1-3,7")
        wanted = range(int(first), int(last or first) + 1)
        if not wanted or wanted[0] < 1 or wanted[-1] > len(study.booklets):
            raise UserError(f"{option} {text}: the study has booklets 1 to {len(study.booklets)}")
        numbers |= set(wanted)
    return sorted(number - 1 for number in numbers)


def database_path(given: Path | None, study: Path) -> Path:
    """The path of the database. `collect` recognises it by its suffix. Raises UserError."""
    path = given or study / DATABASE
    if path.suffix != ".sqlite":
        raise UserError(f"--database {path}: give a name that ends in .sqlite")
    return path


def checked_names(option: str, judges: str) -> list[str]:
    """The names in a list with commas. Raises UserError."""
    from human_eval.web.access import NAME

    names = [name.strip() for name in judges.split(",")]
    for name in names:
        if not NAME.fullmatch(name.removeprefix("guest:")):
            raise UserError(f"{option}: invalid name {name[:80]!r}; use up to 64 of A-Z, a-z, 0-9, dot, hyphen, _")
    if len({name.casefold() for name in names}) < len(names):
        raise UserError(f"{option} {judges}: duplicate name; give each judge a different one, not only in case")
    return names
