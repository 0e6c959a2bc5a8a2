"""``rlsum generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum import api
from rlsum.cli.options import bars, expanded


@expanded
def generate(
    *,
    checkpoint: Annotated[Path, typer.Argument(help="Run or checkpoint folder, or pretrained model of transformers.")],
    corpus: Annotated[str, typer.Argument(metavar="INPUT", help="Articles: a file, a folder or a hub name.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="Records file to write.")],
    how: api.Generating,
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
    same. So it is where several jobs, on one machine or many, write a shard each, and `--shard all/8` puts them
    together.

    **Examples**

    rlsum generate runs/demo/sms runs/demo/data/test.jsonl -o runs/demo/sms.jsonl

    rlsum generate runs/cnndm/mle/best test.jsonl -o out.jsonl --beam 5 --block-ngrams 3

    rlsum generate runs/cnndm/mle mine.csv -o mine.jsonl --source-column text --id-column key

    rlsum generate runs/cnndm/mle test.jsonl -o samples.jsonl --method sample --top-p 0.9

    rlsum generate runs/cnndm/mle test.jsonl -o best.jsonl --best-of 16 --by on_topic:on_topic

    rlsum generate runs/cnndm/mle test.jsonl -o mbr.jsonl --mbr 'rouge-l(stemmer=true)' --samples 16 --top-p 0.9

    rlsum generate facebook/bart-large-cnn test.jsonl -o bart.jsonl --max-source 1024

    accelerate launch --num_processes 4 -m rlsum generate runs/cnndm/mle test.jsonl -o out.jsonl

    rlsum generate runs/cnndm/mle test.jsonl -o out.jsonl --shard 3/8
    """
    with bars() as advance:
        api.generate(checkpoint, corpus, out, how, say=typer.echo, advance=advance)
