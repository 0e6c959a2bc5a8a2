"""``rlsum data simulate``: write a simulated corpus and its word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum.files import check_free


def simulate(
    out_dir: Annotated[Path, typer.Argument(help="Folder for train.jsonl, valid.jsonl, test.jsonl, vectors.txt.gz.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 1,
    train: Annotated[int, typer.Option(min=1, help="Training stories.")] = 4000,
    valid: Annotated[int, typer.Option(min=0, help="Validation stories.")] = 400,
    test: Annotated[int, typer.Option(min=0, help="Test stories.")] = 1000,
    vectors: Annotated[bool, typer.Option(help="Also train word vectors on the training articles.")] = True,
    overwrite: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
) -> None:
    """Write simulated news stories as JSONL, with word vectors trained on their articles.

    **Example**

    rlsum data simulate corpus --seed 1 --train 4000
    """
    from rlsum.simulation.stories import stories, write_corpus
    from rlsum.simulation.word_vectors import TooLittleText, train_vectors, write_vectors

    sizes = {"train": train, "valid": valid, "test": test}
    vectors_path = out_dir / "vectors.txt.gz"
    for path in (*(out_dir / f"{split}.jsonl" for split in sizes), *([vectors_path] if vectors else [])):
        check_free("OUT_DIR", path, overwrite)
    table = {}
    if vectors:
        try:
            table = train_vectors(sentence for story in stories(seed, "train", train) for sentence in story.article)
        except TooLittleText as error:
            raise TooLittleText(f"--train {train}: {error}, or use --no-vectors") from error
    for split, path in write_corpus(out_dir, seed, sizes).items():
        typer.echo(f"{path}: {split}")
    if vectors:
        write_vectors(vectors_path, table)
        typer.echo(f"{vectors_path}: {len(table)} word vectors")
