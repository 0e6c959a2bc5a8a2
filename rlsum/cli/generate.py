"""``rlsum generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def generate(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint folder, or the run it lies in.")],
    corpus: Annotated[str, typer.Argument(metavar="INPUT", help="Articles: a file, a folder or a hub name.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="Where to write the outputs.")],
    beam: Annotated[int, typer.Option(min=1, help="Beam width; 1 is greedy decoding.")] = 5,
    max_length: Annotated[int | None, typer.Option(min=1, help="Tokens at most; default: as trained.")] = None,
    min_length: Annotated[int, typer.Option(min=0, help="Tokens at least.")] = 0,
    length_penalty: Annotated[float, typer.Option(min=0, help="Rank by log p / length ** this.")] = 1.0,
    block_ngrams: Annotated[int, typer.Option(min=0, help="Never repeat an n-gram of this size; 0: off.")] = 0,
    split: Annotated[str, typer.Option(help="Split to read, where INPUT has splits.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many articles, the first.")] = None,
    system: Annotated[str | None, typer.Option(help="Name of the system in the records; default: the run's.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Articles decoded together.")] = 16,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...; default: cuda where there is one.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace OUT.jsonl.")] = False,
) -> None:
    """Summarize articles with a trained model.

    Writes one record an article, `{"id", "source", "references", "candidate", "system"}`. A job that was stopped goes
    on where it stood when the same command is given again.

    **Examples**

    rlsum generate runs/demo/sms runs/demo/data/test.jsonl -o runs/demo/sms.jsonl

    rlsum generate runs/cnndm/mle/best test.jsonl -o out.jsonl --beam 5 --block-ngrams 3
    """
    from rlsum.errors import UserError

    if out.exists() and not overwrite:
        raise UserError(f"-o {out}: exists; add --overwrite, or choose another name")
    from dataclasses import replace

    import torch
    from rich.progress import Progress

    from rlsum import build
    from rlsum import checkpoint as checkpoints
    from rlsum.cli.score import check_writable
    from rlsum.data.corpus import load_corpus
    from rlsum.generation import write_summaries

    folder = checkpoints.find(checkpoint)
    config = checkpoints.read_config(folder)
    longest = max_length or config.decoding.max_length
    if min_length >= longest:
        raise UserError(f"--min-length {min_length}: must be smaller than the maximum of {longest}; raise --max-length")
    decoding = replace(
        config.decoding,
        method="beam" if beam > 1 else "greedy",
        beam=beam,
        max_length=longest,
        min_length=min_length,
        length_penalty=length_penalty,
        block_ngrams=block_ngrams,
    )
    check_writable("-o", out)
    rows = load_corpus(corpus, split=split, limit=limit, **build.reading(config)).rows
    model = build.load_model(folder)
    name = system or Path(config.run).name
    target = device or ("cuda" if torch.cuda.is_available() else "cpu")
    with Progress() as progress:
        task = progress.add_task(name, total=len(rows))
        before = write_summaries(
            out, model, rows, decoding, name, batch_size, target, lambda done: progress.advance(task, done)
        )
    went_on = f", {before:,} of them by an earlier job" if before else ""
    typer.echo(f"{out}: {len(rows):,} summaries by {name}{went_on}")
