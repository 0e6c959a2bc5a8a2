"""``rlsum human-eval judges``: who judges, with what they told; ban and admit them."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from human_eval.cli.arguments import Database, StudyFolder, checked_names, database_path
from human_eval.collection.store import ResponseStore
from human_eval.files import read_key, read_study
from human_eval.formatting import csv_text
from rlsum.errors import UserError
from rlsum.files import check_free, write_atomically

SHOWN = ("judge", "booklet", "answered", "device", "barred", "to do", "why")


def judges(
    study: StudyFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.csv", help="Also write what judges answered about themselves."),
    ] = None,
    database: Database = None,
    key: Annotated[
        Path | None, typer.Option(metavar="KEY.json", help="The secret key, to tell who fails the checks.")
    ] = None,
    ban: Annotated[str, typer.Option(metavar="NAMES", help="Judges who may not continue; their answers stay.")] = "",
    admit: Annotated[str, typer.Option(metavar="NAMES", help="Banned judges who may continue.")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the table.")] = False,
) -> None:
    """Show who judges, whether `serve` runs or not; ban or admit judges.

    The open tasks of a banned judge go to the next one. Answers stay: the rules that were fixed beforehand decide
    which judges the analysis excludes.

    **Examples**

    rlsum human-eval judges study --key key.json -o judges.csv

    rlsum human-eval judges study --ban anna,guest:5f3e
    """
    from human_eval.web.overview import overview

    if out is not None:
        check_free("out", out, overwrite)
    blind = read_study(study)
    path = database_path(database, study)
    if not path.exists():
        raise UserError(f"{path}: does not exist; nobody has judged yet")
    with closing(ResponseStore(path, blind)) as store:
        known = {person.judge for person in store.people.all()}
        for name in checked_names("--ban", ban) if ban else []:
            if name not in known:
                typer.echo(f"Warning: {name} has not begun, and may not when they come; check the name in the table")
            store.people.bar(name, "banned")
        for name in checked_names("--admit", admit) if admit else []:
            store.people.admit(name)
        rows = overview(blind, store, time.time(), None if key is None else read_key(key, blind))["rows"]
    table = Table(*(Column(name, overflow="fold") for name in SHOWN))
    for row in rows:
        table.add_row(*(escape(str(row[name])) for name in SHOWN))
    Console().print(table)
    if out is not None:
        write_atomically(out, csv_text([list(rows[0]) if rows else [], *([*row.values()] for row in rows)]).encode())
        typer.echo(f"{out}: {len(rows)} rows; what judges told about themselves is personal, keep it apart")
