"""``rlsum fit-metric``: train a metric's encoder on human judgments."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rewards.specs import as_spec
from rlsum.cli.layout import HumanScore, Layout, LowerIsBetter
from rlsum.cli.options import JUDGMENTS, expanded, listed, progress
from rlsum.metric_fitting.options import FitOptions
from rlsum.pages.table import Cell, Table
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.judgments.columns import JudgmentColumns
    from rlsum.metric_fitting.examples import JudgedExample
    from rlsum.metric_fitting.fitting import Correlations, EpochValidation, Fitted

Pool = list["JudgedExample"]


@expanded
def fit_metric(
    *,
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help=JUDGMENTS)],
    metric: Annotated[str, typer.Option(help="sbert, cka, bertscore, trwmd or twmd, with its options.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The learned metric; must be new.")],
    valid: Annotated[
        list[str] | None, typer.Option(metavar="DATA...", help="To choose the epoch. All up to the next option.")
    ] = None,
    test: Annotated[list[str] | None, typer.Option(metavar="DATA...", help="Test before and after. Likewise.")] = None,
    score: HumanScore = None,
    lower_is_better: LowerIsBetter = "",
    groups: Annotated[str, typer.Option(help="Use only these groups, such as '*-en' for language pairs.")] = "*",
    limit: Annotated[int | None, typer.Option(min=4, help="Number of judgments to draw from DATA at random.")] = None,
    holdout: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of items held out without --valid.")] = 0.1,
    layout: Layout,
    options: FitOptions,
) -> None:
    """Train the encoder of a contextual metric to predict human scores, with squared error.

    Each epoch is written and validated as the reward `learned(path=FOLDER)`; FOLDER keeps the one with the best Pearson
    correlation on held-out judgments. Correlations are computed within groups (language pairs) and averaged. A judgment
    is a line of JSON: `{"id", "system", "candidate", "references": [...], "scores": {"overall": 0.5}}`, optionally with
    `"group"`. Data in another layout are read as by `rlsum data judgments`.

    **Examples**

    rlsum fit-metric judgments.jsonl --metric 'twmd(encoder=roberta-base, centering=batch)' -o runs/metric

    rlsum fit-metric wmt-da:wmt15.tsv.gz wmt-da:wmt16.tsv.gz --test wmt-da:wmt17.tsv.gz --metric cka -o runs/metric

    rlsum evaluate outputs.jsonl --metrics 'rouge-l, learned(path=runs/metric)'
    """
    from rewards.embedding.learned import check_learnable, learned
    from rlsum.metric_fitting.fitting import check_folder, check_scorable, fit, scored

    spec = as_spec(metric)
    start = check_learnable(spec)
    check_folder(out)
    columns, named = layout.with_score(score)
    read = partial(_read, score=named, groups=groups, lower_is_better=listed(lower_is_better), layout=columns)
    training, validation, tested = _pools(read, data, valid, test, limit, holdout, options.seed)
    check_scorable(start, tested)
    before = scored(start, tested)
    with progress() as bar:
        task = bar.add_task("training", total=options.epochs * math.ceil(len(training) / options.batch_size))

        def updated(loss: float) -> None:
            bar.update(task, advance=1, description=f"training, loss {loss:.4f}")

        def validated(validation: EpochValidation, best: bool) -> None:
            bar.console.print(_line(validation, best), markup=False, highlight=False, soft_wrap=True)

        fitted = fit(spec, training, validation, out, options, validated, updated)
    reward = learned(path=str(out), device=start.space.source.device)
    _print(fitted, before, scored(reward, tested))
    typer.echo(f"{out}: epoch {fitted.about['epoch']}, learned(path={out})")
    typer.echo(reward.signature)


def _pools(
    read: Callable[[list[str]], Pool],
    data: list[str],
    valid: list[str] | None,
    test: list[str] | None,
    limit: int | None,
    holdout: float,
    seed: int,
) -> tuple[Pool, Pool, Pool]:
    """The judgments to train on, to validate and to test. Says their numbers, and which are in two."""
    from rlsum.data.corpus import drawn
    from rlsum.metric_fitting.examples import check_varied, held_out

    training = drawn(read(data), limit, seed)
    training, validation = (training, read(valid)) if valid else held_out(training, holdout, seed)
    tested = read(test) if test else []
    for part, pool in (("training", training), ("validation", validation), ("test", tested)):
        if pool or part != "test":
            check_varied(part, pool)
    _warn_if_shared("--valid", validation if valid else [], training)
    _warn_if_shared("--test", tested, training)
    typer.echo(f"{len(training):,} judgments to train on, {len(validation):,} to validate, {len(tested):,} to test")
    return training, validation, tested


def _read(
    sources: list[str], score: str | None, groups: str, lower_is_better: list[str], layout: JudgmentColumns
) -> Pool:
    """The judgments of some groups with a human score. Prints notes, and what is left out."""
    from rlsum.judgments.orientation import human_score
    from rlsum.judgments.registry import load
    from rlsum.metric_fitting.examples import examples

    loaded = [load(source, layout=layout, lower_is_better=lower_is_better) for source in sources]
    first, score = human_score(loaded[0], score, lower_is_better)
    loaded = [first, *loaded[1:]]
    rows = [row for judgments in loaded for row in judgments.rows]
    for judgments in loaded:
        for reason, count in judgments.left_out.items():
            typer.echo(f"{judgments.name}: left out {count:,} {reason}")
        for note in judgments.notes:
            typer.echo(f"{judgments.name}: {note}")
    pool = examples(rows, score, groups)
    if len(pool) < len(rows):
        counts = f"{len(rows) - len(pool):,} of {len(rows):,}"
        typer.echo(f"{', '.join(sources)}: left out {counts}, of other groups or without {score!r}")
    return pool


def _warn_if_shared(option: str, pool: list[JudgedExample], training: list[JudgedExample]) -> None:
    known = {(example.candidate, example.references) for example in training}
    shared = sum((example.candidate, example.references) in known for example in pool)
    if shared:
        typer.echo(f"{option}: {shared:,} of {len(pool):,} pairs of texts are also in the training data", err=True)


def _line(validation: EpochValidation, best: bool) -> str:
    """A validation; epoch 0 is the start."""
    mean, loss = validation.mean, "" if math.isnan(validation.loss) else f"  loss {validation.loss:.4f}"
    line = f"epoch {validation.epoch}{loss}  validation: Pearson {mean.pearson:.4f}, Kendall {mean.kendall:.4f}"
    return line + ("  (best so far)" if best else "")


def _print(fitted: Fitted, before: dict[str, Correlations], after: dict[str, Correlations]) -> None:
    from rlsum.metric_fitting.fitting import average

    assert fitted.best is not None
    rows = [_row("validation", fitted.history[0].mean, fitted.best.mean)]
    rows += [_row(f"test {group}".rstrip(), before[group], after[group]) for group in after]
    if len(after) > 1:
        rows.append(_row("test, average", average(before), average(after)))
    header = ("judgments", "n", "r before", "r after", "tau before", "tau after")
    show([Table("Agreement with people x 100", header, tuple(rows))], Console())
    if not fitted.best.mean.pearson > fitted.history[0].mean.pearson:
        typer.echo("no epoch correlates better with the held-out judgments than the start", err=True)


def _row(name: str, before: Correlations, after: Correlations) -> tuple:
    pairs = ((before.pearson, after.pearson), (before.kendall, after.kendall))
    values = [Cell("\N{EN DASH}" if math.isnan(value) else f"{value * 100:.1f}") for pair in pairs for value in pair]
    return (Cell(name), Cell(f"{after.n:,}"), *values)
