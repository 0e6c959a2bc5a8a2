"""``rlsum generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def generate(
    checkpoint: Annotated[
        Path, typer.Argument(help="Checkpoint folder, or the run it lies in; or a pretrained model of transformers.")
    ],
    corpus: Annotated[str, typer.Argument(metavar="INPUT", help="Articles: a file, a folder or a hub name.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="Where to write the outputs.")],
    beam: Annotated[int | None, typer.Option(min=1, help="Beam width; 1: greedy. Default: the run's, 5.")] = None,
    max_length: Annotated[int | None, typer.Option(min=1, help="Tokens at most. Default: the run's.")] = None,
    min_length: Annotated[int | None, typer.Option(min=0, help="Tokens at least. Default: the run's.")] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Rank by log p / length ** this. Default: the run's.")
    ] = None,
    block_ngrams: Annotated[
        int | None, typer.Option(min=0, help="Never repeat an n-gram of this size; 0: off. Default: the run's.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Stands before every article. Default: the model's own. Not with a run.")
    ] = None,
    line_break: Annotated[
        str | None, typer.Option(help="What ends a line of a summary. Default: <n> or a space. Not with a run.")
    ] = None,
    max_source: Annotated[
        int | None, typer.Option(min=1, help="Tokens read of an article. Default: all it can read. Not with a run.")
    ] = None,
    global_attention: Annotated[
        Literal["none", "first"] | None,
        typer.Option(help="Tokens of an article that attend to all. Default: first for LED. Not with a run."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to read, where INPUT has splits.")] = "test",
    id_column: Annotated[str | None, typer.Option(help="Column of the ids. Default: the run's.")] = None,
    source_column: Annotated[str | None, typer.Option(help="Column of the articles. Default: the run's.")] = None,
    reference_column: Annotated[
        str | None, typer.Option(help="Column of the summaries. Default: the run's, or none where it is missing.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many articles, the first.")] = None,
    system: Annotated[str | None, typer.Option(help="Name of the system in the records; default: the run's.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Articles decoded together.")] = 16,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...; default: cuda where there is one.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace OUT.jsonl.")] = False,
) -> None:
    """Summarize articles with a trained model.

    Decodes by beam search with the options of the run's decoding section, or those given here. Articles need no
    reference summaries.

    The model may also be one that no run wrote: a folder of transformers' `save_pretrained`, or a name on the hub. What
    is not given is then the model's own, as its generation config has it, and a line says what that is.

    Writes one record an article, `{"id", "source", "references", "candidate", "system"}`. A job that was stopped goes
    on where it stood when the same command is given again. Started by `accelerate launch` or `torchrun`, several
    processes decode, and the file is the same.

    **Examples**

    rlsum generate runs/demo/sms runs/demo/data/test.jsonl -o runs/demo/sms.jsonl

    rlsum generate runs/cnndm/mle/best test.jsonl -o out.jsonl --beam 5 --block-ngrams 3

    rlsum generate runs/cnndm/mle mine.csv -o mine.jsonl --source-column text --id-column key

    rlsum generate facebook/bart-large-cnn test.jsonl -o bart.jsonl --max-source 1024

    accelerate launch --num_processes 4 -m rlsum generate runs/cnndm/mle test.jsonl -o out.jsonl
    """
    from rich.progress import Progress

    from rlsum.cli.destination import check_free

    check_free("-o", out, overwrite)
    from rlsum.data.corpus import load_corpus
    from rlsum.generation import plain
    from rlsum.generation.outputs import check_device, check_ids, decoding_of, write_summaries
    from rlsum.training import build
    from rlsum.training import checkpoint as checkpoints
    from rlsum.training.parallel.processes import launched

    stored = checkpoints.find_or_none(checkpoint)
    if stored is None:
        config, unfollowed = plain.configuration(str(checkpoint), prefix, line_break, max_source, global_attention)
    else:
        own = {"--prefix": prefix, "--line-break": line_break, "--max-source": max_source}
        _check_a_run(stored.folder, {**own, "--global-attention": global_attention})
        config, unfollowed = stored.config, []
    decoding = decoding_of(config.decoding, beam, max_length, min_length, length_penalty, block_ngrams)
    processes, own_device = launched(device)
    target = check_device(own_device)
    if stored is None:
        plain.check_length(config, decoding)
        if processes.rank == 0:
            typer.echo(plain.told(config, decoding, unfollowed))
    columns = {"id_column": id_column, "source_column": source_column, "reference_column": reference_column}
    given = {name: column for name, column in columns.items() if column is not None}
    with processes.main_first():
        rows = load_corpus(
            corpus,
            split=split,
            limit=limit,
            references_optional=reference_column is None,
            **{**build.reading(config.data), **given},
        ).rows
    check_ids(rows["id"], corpus)
    model = plain.load(config) if stored is None else build.load_model(stored)
    rows = model.read(rows, config.data.max_source, config.data.max_target)
    name = system or Path(config.run).name
    with Progress(disable=processes.rank > 0) as progress:
        task = progress.add_task(name, total=len(rows))
        before = write_summaries(
            out,
            model,
            rows,
            decoding,
            name,
            batch_size,
            target,
            lambda done: progress.advance(task, done),
            processes,
        )
    if processes.rank == 0:
        went_on = f", {before:,} of them by an earlier job" if before else ""
        typer.echo(f"{out}: {len(rows):,} summaries by {name}{went_on}")


def _check_a_run(folder: Path, given: dict[str, object]) -> None:
    """Raise UserError for options that a run's own configuration answers."""
    from rlsum.errors import UserError

    for option, value in given.items():
        if value is not None:
            raise UserError(f"{option} {value}: the model in {folder} reads and writes as its run did; leave it out")
