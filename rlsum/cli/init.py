"""``rlsum init``: configurations for one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum import api
from rlsum.cli.options import Language, ReferenceLists


def init(
    data: Annotated[Path, typer.Argument(help="A file of articles and summaries, or a folder with train and valid.")],
    name: Annotated[str | None, typer.Option(help="Name of the run and its files. Default: that of DATA.")] = None,
    pretrained: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A model of transformers to fine-tune: on the hub, or a folder.")
    ] = None,
    language: Language = None,
    source_column: Annotated[str | None, typer.Option(help="Column of the articles. Default: by name, length.")] = None,
    reference_column: Annotated[str | None, typer.Option(help="Column of the summaries. Default: likewise.")] = None,
    reference_lists: ReferenceLists = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files that it writes.")] = False,
) -> None:
    """Look at your data, and write configurations for it, with comments, into this folder.

    Writes NAME.yaml, which trains by likelihood, NAME-rewarded.yaml, which goes on with a reward, and
    NAME-compare.yaml, which does both for two rewards, two seeds and a control, and reports which helped. Columns,
    language, lengths, tokenizer, casing and metrics follow from the data. One file is divided into
    NAME-data/train.jsonl, valid and test, by article, or as its column `split` says.

    **Examples**

    rlsum init articles.csv

    rlsum init articles.csv --pretrained facebook/bart-base

    rlsum init my-corpus --name mine --source-column body
    """
    drafted = api.init(
        data,
        name,
        pretrained=pretrained,
        language=language,
        source_column=source_column,
        reference_column=reference_column,
        reference_lists=reference_lists,
        overwrite=overwrite,
    )
    for line in (*drafted.notes, drafted.commands()):
        typer.echo(line)
