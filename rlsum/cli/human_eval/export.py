"""``rlsum human-eval export``: a study as files for judges who are elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    study: Annotated[Path, typer.Argument(help="Folder of the study.")],
    to: Annotated[Literal["offline", "csv", "mturk", "prolific"], typer.Option(help="Who or what will read it.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write into; must be new or empty.")],
    link: Annotated[
        str | None, typer.Option(help="For prolific: the link for everyone that `rlsum human-eval serve` prints.")
    ] = None,
) -> None:
    """Export a study for judges who are elsewhere; `rlsum human-eval collect` reads what comes back.

    **offline**: a page a booklet that needs no server and no network, and gives a JSON file to send back.
    **csv**: a spreadsheet a booklet. **mturk**: a CSV and the layout of a batch project. **prolific**: the study's
    address for Prolific, whose participants are sent to the web app.

    The key is not read: an export cannot name a system.

    **Examples**

    rlsum human-eval export study --to offline -o forms

    rlsum human-eval export study --to mturk -o batch
    """
    from human_eval.exports.booklets import offline, sheets
    from human_eval.exports.platforms import mturk, prolific
    from human_eval.files import read_study, write_files
    from human_eval.study import StudyError

    if (to == "prolific") != (link is not None):
        raise StudyError("--link belongs to --to prolific: the link for everyone that `rlsum human-eval serve` prints")
    blind = read_study(study)
    if link is not None:
        files = prolific(blind, link)
    else:
        files = {"offline": offline, "csv": sheets, "mturk": mturk}[to](blind)
    write_files(out, files)
    typer.echo(f"{out}: {', '.join(files) if len(files) < 3 else f'{len(files)} files, {min(files)} to {max(files)}'}")
