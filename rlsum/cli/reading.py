"""Options of commands that read files of texts."""

from __future__ import annotations

from pathlib import Path
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
ArticleFile = Annotated[
    Path | None,
    typer.Option("--articles", help="Articles of the outputs, joined by id, or row by row where they have no ids."),
]
ArticleColumn = Annotated[str | None, typer.Option(help="Column of the articles in --articles. Default: by name.")]
CandidateColumn = Annotated[
    str | None, typer.Option(help="With --references: column of the candidates. Default: by name, or the only one.")
]
ReferenceColumn = Annotated[str | None, typer.Option(help="With --references: column of the references. Likewise.")]
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
