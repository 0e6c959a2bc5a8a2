"""``rlsum generate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlsum.cli.destination import check_free
from rlsum.errors import UserError

if TYPE_CHECKING:
    import datasets

    from rlsum.generation.choosing import SampleChoice


def generate(
    checkpoint: Annotated[
        Path, typer.Argument(help="Run folder, checkpoint folder, or pretrained model of transformers.")
    ],
    corpus: Annotated[str, typer.Argument(metavar="INPUT", help="Articles: a file, a folder or a hub name.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="Records file to write.")],
    beam: Annotated[int | None, typer.Option(min=1, help="Beam width; 1: greedy. Default: the run's.")] = None,
    max_length: Annotated[int | None, typer.Option(min=1, help="Maximum length in tokens. Default: the run's.")] = None,
    min_length: Annotated[int | None, typer.Option(min=0, help="Minimum length in tokens. Default: the run's.")] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Rank by log p / length ** this. Default: the run's.")
    ] = None,
    block_ngrams: Annotated[
        int | None, typer.Option(min=0, help="Never repeat an n-gram of this size; 0: off. Default: the run's.")
    ] = None,
    method: Annotated[
        Literal["beam", "sample"] | None, typer.Option(help="Beam search, or a sample of each article. Default: beam.")
    ] = None,
    best_of: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Of N samples of each article, the best by --by.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="REWARD", help="With --best-of: a reward that reads no references.")
    ] = None,
    mbr: Annotated[
        str | None,
        typer.Option(metavar="REWARD", help="Of --samples, the one with the best mean reward against the others."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="With --mbr: samples of each article.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="With samples: draw from p ** (1 / this). Default: the run's.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(min=0, help="With samples: only the most probable tokens; 0: all. Default: the run's.")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="With samples: only the most probable tokens up to this probability. Default: the run's."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples.")] = 1,
    prefix: Annotated[
        str | None, typer.Option(help="Text before every article. Default: the model's. Not with a run.")
    ] = None,
    line_break: Annotated[
        str | None, typer.Option(help="End of a line in summaries. Default: <n> or a space. Not with a run.")
    ] = None,
    max_source: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of an article. Default: the model's limit. Not with a run.")
    ] = None,
    global_attention: Annotated[
        Literal["none", "first"] | None,
        typer.Option(help="Tokens with global attention. Default: first for LED. Not with a run."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to read, if INPUT has splits.")] = "test",
    id_column: Annotated[str | None, typer.Option(help="Column of the ids. Default: the run's.")] = None,
    source_column: Annotated[str | None, typer.Option(help="Column of the articles. Default: the run's.")] = None,
    reference_column: Annotated[
        str | None, typer.Option(help="Column of the summaries. Default: the run's, if INPUT has it.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first articles.")] = None,
    system: Annotated[str | None, typer.Option(help="Name of the system in the records. Default: the run's.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Articles decoded together.")] = 16,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... Default: cuda if available.")] = None,
    overwrite: Annotated[
        bool, typer.Option(help="Replace an existing OUT.jsonl, or what a stopped job with other options has written.")
    ] = False,
) -> None:
    """Summarize articles with a trained or pretrained model.

    Decodes by beam search, or samples, with the options of the run's decoding section. Options given here override
    them. Articles need no reference summaries.

    `--best-of` and `--mbr` (minimum Bayes risk) draw several samples of each article, and write the one that a reward
    chooses.

    A pretrained model is a folder that transformers' `save_pretrained` wrote, or a name on the hub. Defaults then come
    from its generation config, and a line reports them.

    Writes one record per article, `{"id", "source", "references", "candidate", "system"}`. A stopped job continues when
    the same command is run again. With `accelerate launch` or `torchrun`, several processes decode; the file is the
    same.

    **Examples**

    rlsum generate runs/demo/sms runs/demo/data/test.jsonl -o runs/demo/sms.jsonl

    rlsum generate runs/cnndm/mle/best test.jsonl -o out.jsonl --beam 5 --block-ngrams 3

    rlsum generate runs/cnndm/mle mine.csv -o mine.jsonl --source-column text --id-column key

    rlsum generate runs/cnndm/mle test.jsonl -o samples.jsonl --method sample --top-p 0.9

    rlsum generate runs/cnndm/mle test.jsonl -o best.jsonl --best-of 16 --by on_topic:on_topic

    rlsum generate runs/cnndm/mle test.jsonl -o mbr.jsonl --mbr 'rouge-l(stemmer=true)' --samples 16 --top-p 0.9

    rlsum generate facebook/bart-large-cnn test.jsonl -o bart.jsonl --max-source 1024

    accelerate launch --num_processes 4 -m rlsum generate runs/cnndm/mle test.jsonl -o out.jsonl
    """
    from itertools import chain

    from rich.progress import Progress

    check_free("-o", out, overwrite)
    choice = _choice(method, best_of, by, mbr, samples)
    from rewards.scoring import columns_read
    from rlsum.data.corpus import load_corpus
    from rlsum.generation import plain
    from rlsum.generation.outputs import SummaryTask, check_device, check_ids, decoding_of, write_summaries
    from rlsum.training import build
    from rlsum.training import checkpoint as checkpoints
    from rlsum.training.parallel.processes import launched

    stored = checkpoints.find_or_none(checkpoint)
    if stored is None:
        config, unfollowed = plain.configuration(str(checkpoint), prefix, line_break, max_source, global_attention)
    else:
        own = {"--prefix": prefix, "--line-break": line_break, "--max-source": max_source}
        for option, value in {**own, "--global-attention": global_attention}.items():
            if value is not None:
                raise UserError(
                    f"{option} {value}: set by the configuration of the run in {stored.folder}; leave it out"
                )
        config, unfollowed = stored.config, []
    search = (beam, max_length, min_length, length_penalty, block_ngrams)
    sampled = method == "sample" or choice is not None
    decoding = decoding_of(config.decoding, *search, sampled, temperature, top_k, top_p)
    processes, own_device = launched(device)
    target = check_device(own_device)
    if stored is None:
        plain.check_length(config, decoding)
        if processes.rank == 0:
            typer.echo(plain.summary(config, decoding, unfollowed))
    columns = {"id_column": id_column, "source_column": source_column, "reference_column": reference_column}
    given = {name: column for name, column in columns.items() if column is not None}
    reading = {**build.reading(config.data), **given}
    if choice is not None:
        reading["columns"] = [*dict.fromkeys([*reading["columns"], *chain(*columns_read([choice.reward]))])]
    with processes.main_first():
        rows = load_corpus(
            corpus,
            split=split,
            limit=limit,
            references_optional=reference_column is None,
            columns_optional=True,
            **reading,
        ).rows
    check_ids(rows["id"], corpus)
    if choice is not None:
        _check_choice(choice, rows, corpus)
    model = plain.load(config) if stored is None else build.load_model(stored)
    if stored is not None and checkpoints.step_of(stored.folder) == 0 and processes.rank == 0:
        typer.echo(f"{stored.folder}: these are the weights that the run began with; no later validation was better")
    rows = model.read(rows, config.data.max_source, config.data.max_target)
    name = system or Path(config.run).name
    with Progress(disable=processes.rank > 0) as progress:
        bar = progress.add_task(name, total=len(rows))
        task = SummaryTask(model, rows, decoding, name, batch_size, seed, choice)
        before = write_summaries(out, task, target, lambda done: progress.advance(bar, done), processes, overwrite)
    if processes.rank == 0:
        chosen = "" if choice is None else f", each of {choice.samples} samples ({choice.rule} {choice.reward.name})"
        earlier = f", {before:,} of them by an earlier job" if before else ""
        typer.echo(f"{out}: {len(rows):,} summaries by {name}{chosen}{earlier}")


def _choice(
    method: str | None, best_of: int | None, by: str | None, mbr: str | None, samples: int | None
) -> SampleChoice | None:
    """The choice among samples that the options ask for."""
    if best_of is not None and mbr is not None:
        raise UserError(f"--best-of {best_of} and --mbr {mbr} exclude each other; give one")
    for option, value, other, given in (
        ("--best-of", best_of, "--by REWARD", by),
        ("--by", by, "--best-of N", best_of),
        ("--mbr", mbr, "--samples N", samples),
        ("--samples", samples, "--mbr REWARD", mbr),
    ):
        if value is not None and given is None:
            raise UserError(f"{option} {value}: needs {other}; add it")
    spec, count = (by, best_of) if mbr is None else (mbr, samples)
    if spec is None or count is None:
        return None
    if method == "beam":
        raise UserError("--method beam: a reward chooses among samples; leave it out, or use --method sample")
    import rewards
    from rlsum.generation.choosing import SampleChoice

    return SampleChoice("best-of" if mbr is None else "mbr", rewards.from_spec(spec), count)


def _check_choice(choice: SampleChoice, rows: datasets.Dataset, corpus: str) -> None:
    """Raise an error where an article lacks a column that the reward reads, or the reward cannot choose."""
    from rlsum.records import ColumnCheck

    check = ColumnCheck([choice.reward])
    columns = [json.loads(text) for text in rows["columns"]] if "columns" in rows.column_names else [{}] * len(rows)
    for identity, fields in zip(rows["id"], columns, strict=True):
        check.check(f"{corpus}, id {identity!r}", fields)
    choice.check(rows[0]["source"], columns[0])
