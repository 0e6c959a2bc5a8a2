"""``rlsum baseline``: measure the rescaling baseline of a contextual metric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum.errors import UserError
from rlsum.files import check_free


def baseline(
    metric: Annotated[str, typer.Argument(help="A contextual metric with its options, in any direction.")],
    texts: Annotated[Path, typer.Option(metavar="TEXTS.txt", help="Texts of one language, one a line (.gz too).")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="BASELINE.json", help="File to add it to.")],
    pairs: Annotated[int, typer.Option(min=1, help="Random pairs to score; bert-score used 1,000,000.")] = 10_000,
    language: Annotated[str, typer.Option(help="Language of the texts; stored with the baseline.")] = "en",
    seed: Annotated[int, typer.Option(help="Seed of the random pairs.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace the baseline of the same metric and language.")] = False,
) -> None:
    """Measure the mean score of random pairs of texts: the rescaling baseline of a metric.

    Contextual metrics give even unrelated texts high scores. Rescaled to `(x - b) / (1 - b)`, unrelated texts score
    near 0 and equal texts 1; orders and correlations stay. A baseline is for one encoder, layer and set of options, in
    every direction. `rescale=FILE` finds it by them, and refuses a metric without a baseline in the file.

    **Examples**

    rlsum baseline bertscore --texts news.txt -o baseline.json

    rlsum baseline 'twmd(encoder=roberta-base, layer=10)' --texts news.txt -o baseline.json --pairs 100000

    rlsum evaluate outputs.jsonl --metrics 'bertscore(direction=recall, rescale=baseline.json)'
    """
    import rewards
    from rewards.embedding.corpus_statistics import read_texts
    from rewards.embedding.rescaling import add_baseline, measure_baseline, read_baselines

    reward = rewards.from_spec(metric)
    check_free("out", out, overwrite=True)  # it is added to; read_baselines refuses another file
    stored = read_baselines(out) if out.exists() else []
    if not texts.is_file():
        raise UserError(f"--texts {texts}: no such file; give a file of texts, one a line")
    key = (getattr(reward, "metric", None), language)  # measure_baseline refuses other rewards
    if not overwrite and any((entry.metric, entry.language) == key for entry in stored):
        raise UserError(f"--out {out}: already has a baseline of {key[0]} for {language}; add --overwrite")
    lines = read_texts(texts)
    if len(set(lines)) < 2:
        raise UserError(f"--texts {texts}: {len(set(lines))} different texts; a baseline needs two, one a line")
    measured = measure_baseline(reward, lines, pairs, seed, language)
    add_baseline(out, measured)
    values = ", ".join(f"{direction} {value:.6f}" for direction, value in measured.values.items())
    typer.echo(f"{out}: {values}  ({pairs:,} pairs, {language})")
    typer.echo(measured.metric)
