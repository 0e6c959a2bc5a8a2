"""``rlsum generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rlsum import api
from rlsum.cli.options import arguments, bars
from rlsum.cli.reading import ReferenceLists


def generate(
    checkpoint: Annotated[Path, typer.Argument(help="Run or checkpoint folder, or pretrained model of transformers.")],
    corpus: Annotated[str, typer.Argument(metavar="INPUT", help="Articles: a file, a folder or a hub name.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="Records file to write.")],
    beam: Annotated[int | None, typer.Option(min=1, help="Beam width; 1: greedy. Default: the run's.")] = None,
    max_length: Annotated[int | None, typer.Option(min=1, help="Maximum length in tokens. Default: the run's.")] = None,
    min_length: Annotated[int | None, typer.Option(min=0, help="Minimum length in tokens. Default: the run's.")] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Rank by log p / length ** this. Default: the run's.")
    ] = None,
    early_stopping: Annotated[
        Literal["true", "false", "never"] | None,
        typer.Option(help="When a beam search is done, as in transformers. Default: the run's, or the model's."),
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
    by: Annotated[str | None, typer.Option(metavar="REWARD", help="With --best-of: it reads no references.")] = None,
    mbr: Annotated[
        str | None,
        typer.Option(metavar="REWARD", help="Of --samples, the one with the best mean reward against the others."),
    ] = None,
    samples: Annotated[int | None, typer.Option(min=2, metavar="N", help="With --mbr: samples an article.")] = None,
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
        str | None, typer.Option(help="End of a line in summaries. Default: `<n>` or a space. Not with a run.")
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
    reference_lists: ReferenceLists = None,
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
    options = locals()
    how = arguments(api.Generating, options)
    with bars() as advance:
        api.generate(checkpoint, corpus, out, how, overwrite=overwrite, say=typer.echo, advance=advance)
