"""``rlsum human-eval booklets``: who has which booklet; reserve and release them."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from human_eval.cli.arguments import Database, StudyFolder, booklet_numbers, database_path
from human_eval.collection.store import ResponseStore
from human_eval.files import read_study
from human_eval.formatting import counted
from human_eval.study import Study


def booklets(
    study: StudyFolder,
    database: Database = None,
    reserve: Annotated[str, typer.Option(metavar="NUMBERS", help="Booklets not to be lent, such as 1-3,7.")] = "",
    release: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Booklets whose open tasks the app lends to the next judges.")
    ] = "",
) -> None:
    """Show who has which booklet, whether `serve` runs or not; reserve booklets, or release them.

    Of files it counts what `collect` counted last.

    `export` reserves what it writes, because a booklet is for one judge. Releasing takes a booklet from the judge who
    has it; answers stay.

    **Examples**

    rlsum human-eval booklets study

    rlsum human-eval booklets study --release 4
    """
    blind = read_study(study)
    reserved = booklet_numbers("--reserve", reserve, blind) if reserve else []
    released = booklet_numbers("--release", release, blind) if release else []
    with closing(ResponseStore(database_path(database, study), blind)) as store:
        store.release(released)
        store.reserve(reserved)
        _show(store, blind)


def _show(store: ResponseStore, study: Study) -> None:
    judges = {loan.booklet: loan.judge for loan in store.loans()}
    answered = {response.task for response in store.responses()}
    reserved, returned = store.reserved(), store.returned()
    table = Table("booklet", "judge", "answered")
    for number, tasks in enumerate(study.booklets):
        back = returned.get(number, [])
        lent = judges.get(number, "(exported)" if number in reserved else "(free)")
        people = ", ".join(judge for judge, _ in back) if len(back) < 4 else counted(len(back), "judge")
        names = [*[lent] * (not back or number in judges), *[f"{people} (returned)"] * bool(back)]
        done = sum(task.id in answered for task in tasks) + sum(answers for _, answers in back)
        table.add_row(str(number + 1), escape(", ".join(names)), f"{min(done, len(tasks))} of {len(tasks)}")
    Console().print(table)
