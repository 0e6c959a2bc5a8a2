"""``rlsum human-eval collect``: what came back from judges -> one file of judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from human_eval.collection.collect import Collected
    from human_eval.study import Study

SHOWN = 10  # rows whose reasons are printed one by one where none counts


def collect(
    study: Annotated[Path, typer.Argument(help="Folder of the study.")],
    files: Annotated[
        list[Path],
        typer.Argument(help="What came back: .sqlite (the app), .json, .csv (filled in, or MTurk's), .jsonl."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Judgments to write (JSONL).")],
    overwrite: Annotated[bool, typer.Option(help="Replace the judgments and their rejects.")] = False,
) -> None:
    """Collect judgments from offline pages, spreadsheets, Mechanical Turk and the app into one file.

    Every row is kept or said why not, below and row by row in a file beside the judgments (.rejects.jsonl); where no
    row counts, nothing is written. Where a judge answered a task twice, the later answers count. A judge who got the
    same two summaries in two booklets counts once, with the earlier answers. Files may overlap; collecting again from
    all files gives the same.

    **Examples**

    rlsum human-eval collect study study/judging.sqlite -o judgments.jsonl

    rlsum human-eval collect study returned/*.json batch_results.csv -o judgments.jsonl
    """
    from human_eval.collection.collect import collect, write_rejects
    from human_eval.collection.responses import write_responses
    from human_eval.collection.returns import read_returned
    from human_eval.files import read_study
    from human_eval.formatting import counted
    from human_eval.study import StudyError
    from rlsum.cli.destination import check_free

    rejected = out.with_suffix(".rejects.jsonl")
    check_free("-o", out, overwrite)
    check_free("-o", rejected, overwrite)
    blind = read_study(study)
    found = collect(blind, (row for path in files for row in read_returned(path, blind)))
    if not found.responses and not found.rejects:
        raise StudyError(f"no answers in {', '.join(map(str, files))} yet; nothing is written")
    _print(found, blind)
    if not found.responses:
        for reject in found.rejects[:SHOWN]:
            typer.echo(f"{reject.where}: {reject.reason}")
        if len(found.rejects) > SHOWN:
            typer.echo(f"and {counted(len(found.rejects) - SHOWN, 'row')} more, counted in the table")
        raise StudyError(
            f"no row of {', '.join(map(str, files))} counts, for the reasons above; nothing is written, "
            f"neither {out} nor {rejected}"
        )
    write_rejects(rejected, found.rejects)
    write_responses(out, found.responses)
    told = f"{counted(len(found.rejects), 'row')} not kept, each with its reason" if found.rejects else "empty"
    typer.echo(f"{out}: {counted(len(found.responses), 'judgment')}; {rejected}: {told}")


def _print(found: Collected, study: Study) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    from human_eval.collection.collect import reasons
    from human_eval.formatting import counted

    judged = {response.task for response in found.responses}
    judges = {response.judge for response in found.responses}
    table = Table("rows", "count", Column("first", overflow="fold"))
    table.add_row("kept", str(len(found.responses)), "")
    for kind, count, first in reasons(found.rejects):
        table.add_row(escape(f"not kept, {kind}"), str(count), escape(first))  # files are called [anything]
    console = Console()
    console.print(table)
    whole = sum(all(task.id in judged for task in booklet) for booklet in study.booklets)
    typer.echo(
        f"{counted(len(judges), 'judge')}; {len(judged):,} of {counted(len(study.tasks), 'task')} answered; "
        f"{whole:,} of {counted(len(study.booklets), 'booklet')} complete"
    )
