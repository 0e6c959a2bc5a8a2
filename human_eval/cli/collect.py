"""``rlsum human-eval collect``: files that judges returned -> one file of judgments."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from human_eval.cli.arguments import DATABASE, StudyFolder, booklet_numbers
from human_eval.collection import collect as collecting
from human_eval.collection.database import read_database, read_handed_out
from human_eval.collection.practice import counts, practice_file, read_practice_database, write_practice
from human_eval.collection.responses import write_responses
from human_eval.collection.returns import formats, read_returned
from human_eval.collection.store import ResponseStore
from human_eval.files import read_study
from human_eval.formatting import counted
from human_eval.study import Study, StudyError
from human_eval.votes.votes import unknown
from rlsum.files import check_free

SHOWN = 10  # rejected rows printed if no row counts


def collect(
    study: StudyFolder,
    files: Annotated[list[Path], typer.Argument(help=f"Returned files: {formats()}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File of judgments to write (JSONL).")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the judgments and their rejects.")] = False,
    whose: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER=JUDGE", help="Whose a booklet is that came back under several names; repeatable."),
    ] = None,
) -> None:
    """Collect judgments from the app, offline pages, spreadsheets and Mechanical Turk into one file.

    A table counts kept rows, and rejected rows by reason; the file .rejects.jsonl beside the judgments lists rejected
    rows with their reasons. If no row counts, nothing is written. If a judge answered a task twice, the later answers
    count. If a judge saw the same two summaries in two booklets, the earlier answers count. Files of a booklet that
    came back under several names do not count until --whose says which does, nor does that of a booklet that this
    STUDY never exported. Files may overlap; collecting all files again gives the same result, in any order but where a
    judge's answers differ and have no time: then those of the later file count.

    **Examples**

    rlsum human-eval collect study study/judging.sqlite -o judgments.jsonl

    rlsum human-eval collect study returned/*.json batch_results.csv -o judgments.jsonl

    rlsum human-eval collect study returned/*.json --whose 4=anna -o judgments.jsonl
    """
    rejects, trained = out.with_suffix(".rejects.jsonl"), practice_file(out)
    for path in (out, rejects, trained):
        check_free("out", path, overwrite)
    blind = read_study(study)
    collected = _collected(blind, study, files, _owners(whose or [], blind))
    _check_some_count(collected, blind, ", ".join(map(str, files)), f"neither {out} nor {rejects}")
    collecting.write_rejects(rejects, collected.rejects)
    write_responses(out, collected.responses)
    if all(os.access(path, os.W_OK) for path in (study, study / DATABASE)):
        with closing(ResponseStore(study / DATABASE, blind)) as store:
            store.note_returned(collected.responses)  # for `booklets`
    _print(collected, blind)  # after the files: a reader of the output that ends early loses none
    typer.echo(
        f"{out}: {counted(len(collected.responses), 'judgment')}; "
        f"{rejects}: {counted(len(collected.rejects), 'rejected row')}"
    )
    if collected.untimed:
        typer.echo(f"{counted(collected.untimed, 'judgment')} without a time: that in the file cannot be")
    for doubt in filter(None, [*collecting.suspicions(rejects), unknown(row.judge for row in collected.responses)]):
        typer.echo(f"Warning: {doubt}")
    if blind.training:
        _write_practice(blind, files, trained)
    typer.echo(f"next, the verdict: rlsum human-eval analyse {study} {out} -o verdict")


def _collected(blind: Study, folder: Path, files: list[Path], owners: dict[int, str]) -> collecting.Collected:
    """The rows of the files; a database, also that of the study, says which booklets were handed out and answered."""
    databases = [path for path in {*files, folder / DATABASE} if path.suffix == ".sqlite" and path.exists()]
    lent = frozenset[int]().union(*(read_handed_out(path, blind) for path in databases))
    in_app = {(row.judge, row.task) for path in databases for row in read_database(path, blind, [])}
    returned = (row for path in files for row in read_returned(path, blind))
    return collecting.collect(blind, returned, lent if databases else None, owners, in_app if databases else None)


def _check_some_count(collected: collecting.Collected, study: Study, names: str, unwritten: str) -> None:
    """Print why no row counts, and raise StudyError, where none does."""
    if collected.responses:
        return
    if not collected.rejects:
        raise StudyError(f"no answers in {names}; nothing is written")
    _print(collected, study)
    for reject in collected.rejects[:SHOWN]:
        typer.echo(f"{reject.where}: {reject.reason}")
    if len(collected.rejects) > SHOWN:
        typer.echo(f"and {counted(len(collected.rejects) - SHOWN, 'row')} more, counted in the table")
    raise StudyError(f"no row of {names} counts, for the reasons above; {unwritten} is written")


def _owners(whose: list[str], study: Study) -> dict[int, str]:
    """Booklet (0..) -> the judge whose it is. Raises UserError."""
    owners: dict[int, str] = {}
    for text in whose:
        number, _, judge = text.partition("=")
        if not judge.strip():
            raise StudyError(f"--whose {text}: expected a booklet and a judge, such as 4=anna")
        owners |= dict.fromkeys(booklet_numbers("--whose", number, study), judge.strip())
    return owners


def _write_practice(study: Study, files: list[Path], out: Path) -> None:
    answers = [row for path in files if path.suffix == ".sqlite" for row in read_practice_database(path, study)]
    write_practice(out, study, answers)
    assert study.training is not None
    trained = counts(study.training, answers, ())
    typer.echo(
        f"{out}: the training round: {trained.trained} trained, {trained.passed} passed, {trained.failed} failed"
    )


def _print(collected: collecting.Collected, study: Study) -> None:
    tasks = {response.task for response in collected.responses}
    judges = {response.judge for response in collected.responses}
    table = Table("rows", "count", Column("first", overflow="fold"))
    table.add_row("kept", str(len(collected.responses)), "")
    for kind, count, first in collecting.reasons(collected.rejects):
        table.add_row(escape(f"rejected, {kind}"), str(count), escape(first))  # file names may contain markup
    Console().print(table)
    complete = sum(all(task.id in tasks for task in booklet) for booklet in study.booklets)
    typer.echo(
        f"{counted(len(judges), 'judge')}; {len(tasks):,} of {counted(len(study.tasks), 'task')} answered; "
        f"{complete:,} of {counted(len(study.booklets), 'booklet')} complete"
    )
