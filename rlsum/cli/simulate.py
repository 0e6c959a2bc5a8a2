"""``rlsum data simulate``: write the embedded corpus and its word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def simulate(
    out_dir: Annotated[Path, typer.Argument(help="Folder for train.jsonl, valid.jsonl, test.jsonl, vectors.txt.gz.")],
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 1,
    train: Annotated[int, typer.Option(min=1, help="Training stories.")] = 4000,
    valid: Annotated[int, typer.Option(min=0, help="Validation stories.")] = 400,
    test: Annotated[int, typer.Option(min=0, help="Test stories.")] = 1000,
    vectors: Annotated[bool, typer.Option(help="Also train word vectors on the training articles.")] = True,
) -> None:
    """Write simulated news stories as JSONL, with word vectors trained on their articles.

    **Example**

    rlsum data simulate corpus --seed 1 --train 4000
    """
    from rlsum.data.simulator import write_corpus

    paths = write_corpus(out_dir, seed, {"train": train, "valid": valid, "test": test})
    for split, path in paths.items():
        typer.echo(f"{path}: {split}")
    if vectors:
        from rlsum.data.train_vectors import TooLittleText, train_from_corpus

        path = out_dir / "vectors.txt.gz"
        try:
            typer.echo(f"{path}: {train_from_corpus(paths['train'], path)} word vectors")
        except TooLittleText as error:
            raise TooLittleText(f"--train {train}: {error}, or leave the vectors out with --no-vectors") from error
