"""``rlsum baseline``: what a contextual metric gives random pairs, to rescale it by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def baseline(
    metric: Annotated[str, typer.Argument(help="A contextual metric with its options; any of its directions.")],
    texts: Annotated[Path, typer.Option(metavar="TEXTS.txt", help="Texts of one language, one a line (.gz too).")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="BASELINE.json", help="Added to what the file holds already.")
    ],
    pairs: Annotated[int, typer.Option(min=1, help="Random pairs to score; bert-score's own took 1,000,000.")] = 10_000,
    language: Annotated[str, typer.Option(help="Of the texts; kept with the baseline.")] = "en",
    seed: Annotated[int, typer.Option(help="Of the pairs.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace a baseline of the same metric and language.")] = False,
) -> None:
    """Measure the mean score of random pairs of texts: the baseline that a metric is rescaled by.

    Contextual metrics give even unrelated texts high scores. Rescaled, `(x - b) / (1 - b)`, unrelated texts are near 0
    and equal ones at 1; orders and correlations stay. A baseline holds for one encoder, layer and set of options, in
    every direction; it is looked up by them, and a metric that finds none in the file is refused.

    **Examples**

    rlsum baseline bertscore --texts news.txt -o baseline.json

    rlsum baseline 'twmd(encoder=roberta-base, layer=10)' --texts news.txt -o baseline.json --pairs 100000

    rlsum evaluate outputs.jsonl --metrics 'bertscore(direction=recall, rescale=baseline.json)'
    """
    import rewards
    from rewards.embedding.corpus_mean import read_texts
    from rewards.embedding.rescaling import add_baseline, read_baselines
    from rewards.embedding.rescaling_baseline import baseline as measured
    from rlsum.cli.destination import check_free
    from rlsum.errors import UserError

    reward = rewards.from_spec(metric)
    check_free("--out", out, overwrite=True)  # what it holds stays; a file of another kind is refused by its reader
    known = read_baselines(out) if out.exists() else []
    if not texts.is_file():
        raise UserError(f"--texts {texts}: no such file; give texts, one a line")
    key = (getattr(reward, "metric", None), language)  # what has none is refused by `measured`
    if not overwrite and any((other.metric, other.language) == key for other in known):
        raise UserError(f"--out {out}: has a baseline of {key[0]} for {language}; add --overwrite to replace it")
    found = measured(reward, read_texts(texts), pairs, seed, language)
    add_baseline(out, found)
    values = ", ".join(f"{direction} {value:.6f}" for direction, value in found.values.items())
    typer.echo(f"{out}: {values}  ({pairs:,} pairs, {language})")
    typer.echo(found.metric)
