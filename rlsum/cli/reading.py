"""Options of commands that read files of texts."""

from __future__ import annotations

from typing import Annotated

import typer

from rewards.references import Lists

ReferenceLists = Annotated[
    Lists | None,
    typer.Option(help="What a list of texts in a column of references is, where its name does not say so."),
]
