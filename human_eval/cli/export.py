"""``rlsum human-eval export``: a study as files for judges who do not use the app."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from human_eval.cli.arguments import Database, StudyFolder, booklet_numbers, database_path
from human_eval.collection.store import ResponseStore
from human_eval.exports.booklets import offline, sheets
from human_eval.exports.platforms import mturk, prolific
from human_eval.files import read_study, write_files
from human_eval.study import Study, StudyError

Format = Literal["offline", "csv", "mturk", "prolific"]


def export(
    study: StudyFolder,
    to: Annotated[Format, typer.Option(help="Format of the export.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; must be new or empty.")],
    link: Annotated[
        str | None, typer.Option(help="With --to prolific: the link for everyone that `rlsum human-eval serve` prints.")
    ] = None,
    booklets: Annotated[str, typer.Option(metavar="NUMBERS", help="Booklets, such as 1-3,7 (default: all).")] = "",
    database: Database = None,
) -> None:
    """Export a study for judges who do not use the app. `rlsum human-eval collect` reads the files they return.

    A booklet is for one judge: exported booklets are reserved, so that the app does not lend them too, and booklets
    that the app has lent are not exported. `rlsum human-eval booklets` shows and changes it.

    **offline**: an HTML page per booklet, which needs no network and saves a JSON file to return.
    **csv**: a spreadsheet per booklet. **mturk**: a CSV file and the layout of a batch project. **prolific**: address
    and settings to enter in Prolific, which sends its participants to the web app.

    The command does not read the key.

    **Examples**

    rlsum human-eval export study --to offline -o forms

    rlsum human-eval export study --to mturk -o batch

    rlsum human-eval export study --to csv --booklets 1-3 -o sheets
    """
    blind = read_study(study)
    _check(to, link, booklets, blind)
    if link:
        write_files(out, files := prolific(blind, link))
    else:
        if blind.enrolment.questions or blind.interface.language != "en":
            typer.echo("Warning: these files are English, and ask no questions about judges; only the app does")
        numbers = booklet_numbers("--booklets", booklets, blind) if booklets else list(range(len(blind.booklets)))
        files = {"offline": offline, "csv": sheets, "mturk": mturk}[to](blind, numbers)
        with closing(ResponseStore(database_path(database, study), blind)) as store, store.reserving(numbers):
            write_files(out, files)
    typer.echo(f"{out}: {', '.join(files) if len(files) < 3 else f'{len(files)} files, {min(files)} to {max(files)}'}")


def _check(to: Format, link: str | None, booklets: str, study: Study) -> None:
    """Raise StudyError for options that exclude each other, and for what only the app can do."""
    if to == "prolific" and link is None:
        raise StudyError("--to prolific: give --link with the link for everyone that `rlsum human-eval serve` prints")
    if to != "prolific" and link is not None:
        raise StudyError(f"--link {link}: only --to prolific takes a link; leave out --link")
    if study.marking and to != "prolific":
        raise StudyError(
            f"--to {to}: judges mark errors in the text, which only the app can; use `rlsum human-eval serve`"
        )
    if study.training and to != "prolific":
        raise StudyError(
            f"--to {to}: the study has a training round, which only the app can hold: a file shows the known answers, "
            "and nobody could enforce the pass mark; use `rlsum human-eval serve`, or build without --training"
        )
    if link and booklets:
        raise StudyError(f"--booklets {booklets}: Prolific's judges use the app, so leave it out")
