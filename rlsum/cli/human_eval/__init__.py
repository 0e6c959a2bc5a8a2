"""``rlsum human-eval``: one file a command, and the arguments that they share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder that `rlsum human-eval build` made.")]

DATABASE = "judging.sqlite"
Database = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Database of answers (default: {DATABASE} in STUDY).")
]


def database_path(given: Path | None, study: Path) -> Path:
    """The path of the database. `collect` recognises it by its suffix. Raises UserError."""
    from rlsum.errors import UserError

    path = given or study / DATABASE
    if path.suffix != ".sqlite":
        raise UserError(f"--database {path}: give a name that ends in .sqlite")
    return path
