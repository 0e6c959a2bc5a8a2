"""``rlsum human-eval backup``: a copy of the app's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from human_eval.cli.arguments import Database, StudyFolder, database_path
from human_eval.collection.database import back_up
from human_eval.files import read_study
from human_eval.formatting import counted
from rlsum.errors import UserError
from rlsum.files import check_free


def backup(
    study: StudyFolder,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The copy, a name that ends in .sqlite.")],
    database: Database = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier copy.")] = False,
) -> None:
    """Copy the database of answers to one file, whether `serve` runs or not.

    The copy holds every answer that judges were told is saved. `collect` reads it, and `serve --database` goes on with
    it. It contains the secret that signs links; only its owner can read it.

    **Examples**

    rlsum human-eval backup study -o backups/monday.sqlite
    """
    source = database_path(database, study)
    if out.suffix != ".sqlite":
        raise UserError(f"-o {out}: give a name that ends in .sqlite")
    if out.resolve() == source.resolve():
        raise UserError(f"-o {out}: is the database itself; choose another name")
    check_free("out", out, overwrite)
    count = back_up(source, read_study(study), out)
    typer.echo(f"{out}: {counted(count, 'judgment')}")
