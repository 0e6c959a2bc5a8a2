"""``rlsum human-eval export``: a study as files for judges who do not use the app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rlsum.cli.human_eval import StudyFolder


def export(
    study: StudyFolder,
    to: Annotated[Literal["offline", "csv", "mturk", "prolific"], typer.Option(help="Format of the export.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; must be new or empty.")],
    link: Annotated[
        str | None, typer.Option(help="With --to prolific: the link for everyone that `rlsum human-eval serve` prints.")
    ] = None,
) -> None:
    """Export a study for judges who do not use the app. `rlsum human-eval collect` reads the files they return.

    **offline**: an HTML page per booklet, which needs no network and saves a JSON file to return.
    **csv**: a spreadsheet per booklet. **mturk**: a CSV file and the layout of a batch project. **prolific**: address
    and settings to enter in Prolific, which sends its participants to the web app.

    The command does not read the key.

    **Examples**

    rlsum human-eval export study --to offline -o forms

    rlsum human-eval export study --to mturk -o batch
    """
    from human_eval.exports.booklets import offline, sheets
    from human_eval.exports.platforms import mturk, prolific
    from human_eval.files import read_study, write_files
    from human_eval.study import StudyError

    if to == "prolific" and link is None:
        raise StudyError("--to prolific: give --link with the link for everyone that `rlsum human-eval serve` prints")
    if to != "prolific" and link is not None:
        raise StudyError(f"--link {link}: only --to prolific takes a link; leave out --link")
    blind = read_study(study)
    files = prolific(blind, link) if link else {"offline": offline, "csv": sheets, "mturk": mturk}[to](blind)
    write_files(out, files)
    typer.echo(f"{out}: {', '.join(files) if len(files) < 3 else f'{len(files)} files, {min(files)} to {max(files)}'}")
