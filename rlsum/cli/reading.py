"""Options of commands that read files of texts."""

from __future__ import annotations

from typing import Annotated

import typer

from rewards.references import Lists

Clean = Annotated[
    bool,
    typer.Option(
        "--clean",
        help="Score texts without thinking blocks, special tokens, HTML, Markdown, preambles; records keep them.",
    ),
]
ReferenceLists = Annotated[
    Lists | None,
    typer.Option(help="What a list of texts in a column of references is, where its name does not say so."),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE", help="Language of the texts, such as fr, hi, ja: words, stems, sentences, stop words."
    ),
]
