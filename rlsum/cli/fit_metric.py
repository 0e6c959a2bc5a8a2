"""``rlsum fit-metric``: train a metric's encoder on human judgments."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rlsum.metric_fitting.correlations import Correlations
    from rlsum.metric_fitting.examples import Example
    from rlsum.metric_fitting.fitting import Fitted, Validation
    from rlsum.metric_fitting.training import Options

Scale = Literal["min-max", "standard", "none"]


def fit_metric(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Judgments: JSONL, hf://owner/name, or NAME:PATH for public data."),
    ],
    metric: Annotated[str, typer.Option(help="sbert, cka, bertscore, trwmd or twmd, with its options.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The learned metric; must not exist.")],
    valid: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Judgments that choose the epoch; may be repeated.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Judgments to test on, before and after; repeatable.")
    ] = None,
    score: Annotated[str, typer.Option(help="Which of the human scores.")] = "overall",
    groups: Annotated[str, typer.Option(help="Only judgments of these groups, as '*-en' for language pairs.")] = "*",
    limit: Annotated[int | None, typer.Option(min=4, help="Draw so many judgments of DATA at random.")] = None,
    holdout: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of the items held out without --valid.")
    ] = 0.1,
    scale: Annotated[
        Scale, typer.Option(help="What human scores are brought to: [0, 1]; mean 0, deviation 1.")
    ] = "min-max",
    epochs: Annotated[int, typer.Option(min=1, help="The most passes over the judgments.")] = 5,
    patience: Annotated[int, typer.Option(min=1, help="Epochs without a better validation before it ends.")] = 2,
    learning_rate: Annotated[float, typer.Option(help="The highest; it rises from 0 and falls to 0.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(min=1, help="Judgments an update.")] = 32,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn, held out, and of the order.")] = 0,
) -> None:
    """Train the encoder of a contextual metric until its scores are near human ones, in squared error.

    Each epoch is written and validated as the reward `learned(path=FOLDER)`; FOLDER holds the one with the best Pearson
    correlation on held-out judgments. Correlations are taken within groups (language pairs) and averaged. A judgment is
    a line of JSON: `{"id", "system", "candidate", "references": [...], "scores": {"overall": 0.5}}`, and where there
    are groups, `"group"`.

    **Examples**

    rlsum fit-metric judgments.jsonl --metric 'twmd(encoder=roberta-base, centering=batch)' -o runs/metric

    rlsum fit-metric wmt-da:wmt15.tsv.gz wmt-da:wmt16.tsv.gz --test wmt-da:wmt17.tsv.gz --metric cka -o runs/metric

    rlsum evaluate outputs.jsonl --metrics 'rouge-l, learned(path=runs/metric)'
    """
    from rewards.embedding.learned import check_learnable, learned
    from rewards.specs import as_spec
    from rlsum.metric_fitting.fitting import check_folder, check_scorable, fit, scored
    from rlsum.metric_fitting.training import Options

    spec = as_spec(metric)
    start = check_learnable(spec)
    check_folder(out)
    options = Options(epochs, batch_size, learning_rate, patience, seed, scale)
    training, validation, tested = _examples(data, valid or [], test or [], score, groups, limit, holdout, seed)
    typer.echo(f"{len(training):,} judgments to train on, {len(validation):,} to validate, {len(tested):,} to test")
    check_scorable(start, tested)
    before = scored(start, tested)
    with Progress(options, len(training)) as progress:
        fitted = fit(spec, training, validation, out, options, progress.validated, progress.updated)
    reward = learned(str(out), device=start.space.source.device)
    _print(fitted, before, scored(reward, tested))
    typer.echo(f"{out}: epoch {fitted.about['epoch']}, learned(path={out})")
    typer.echo(reward.signature)


def _examples(
    data: list[str],
    valid: list[str],
    test: list[str],
    score: str,
    groups: str,
    limit: int | None,
    holdout: float,
    seed: int,
) -> tuple[list[Example], list[Example], list[Example]]:
    """Training, validation and test judgments; what is left out, and what stands on two sides, is told."""
    from rlsum.judgments.registry import load
    from rlsum.metric_fitting.examples import check_varied, drawn, examples, held_out

    def read(texts: list[str]) -> list[Example]:
        loaded = [load(each) for each in texts]
        judgments = [row for each in loaded for row in each.rows]
        for each in loaded:
            for reason, count in each.left_out.items():
                typer.echo(f"{each.name}: left out {count:,} {reason}")
        found = examples(judgments, score, groups)
        if len(found) < len(judgments):
            left = f"{len(judgments) - len(found):,} of {len(judgments):,}"
            typer.echo(f"{', '.join(texts)}: left out {left}, of other groups or without {score!r}")
        return found

    training = drawn(read(data), limit, seed)
    training, validation = (training, read(valid)) if valid else held_out(training, holdout, seed)
    tested = read(test) if test else []
    for what, found in (("training", training), ("validation", validation), ("test", tested)):
        if found or what != "test":
            check_varied(what, found)
    known = {(each.candidate, each.references) for each in training}
    for what, found in (("--valid", validation if valid else []), ("--test", tested)):
        twice = sum((each.candidate, each.references) in known for each in found)
        if twice:
            typer.echo(
                f"{what}: {twice:,} of its {len(found):,} pairs of texts are in the training judgments, too", err=True
            )
    return training, validation, tested


class Progress:
    """A bar for a watching terminal, and a line for each validation."""

    def __init__(self, options: Options, examples: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
        updates = options.epochs * math.ceil(examples / options.batch_size)
        self.task = self.bar.add_task("training", total=updates)

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.bar.stop()

    def updated(self, loss: float) -> None:
        """One update more."""
        self.bar.update(self.task, advance=1, description=f"training, loss {loss:.4f}")

    def validated(self, validation: Validation, best: bool) -> None:
        """Print an epoch; 0 is the start."""
        mean, loss = validation.mean, "" if math.isnan(validation.loss) else f"  loss {validation.loss:.4f}"
        told = f"epoch {validation.epoch}{loss}  validation: Pearson {mean.pearson:.4f}, Kendall {mean.kendall:.4f}"
        self.bar.console.print(told + ("  (best so far)" if best else ""), highlight=False, soft_wrap=True)


def _print(fitted: Fitted, before: dict[str, Correlations], after: dict[str, Correlations]) -> None:
    """Correlations with people before and after, of the validation's mean and of the test by group."""
    from rich.console import Console

    from rlsum.metric_fitting.correlations import average
    from rlsum.pages.table import Table
    from rlsum.pages.terminal import show

    assert fitted.best is not None
    rows = [_row("validation", fitted.history[0].mean, fitted.best.mean)]
    if after:
        rows += [_row(f"test {group}".rstrip(), before[group], after[group]) for group in after]
    if len(after) > 1:
        rows.append(_row("test, average", average(before), average(after)))
    header = ("judgments", "n", "r before", "r after", "tau before", "tau after")
    show([Table("Agreement with people x 100", header, tuple(rows))], Console())
    if not fitted.best.mean.pearson > fitted.history[0].mean.pearson:
        typer.echo("no epoch agrees better with the held-out judgments than the start did", err=True)


def _row(name: str, before: Correlations, after: Correlations) -> tuple:
    from rlsum.pages.table import Cell

    pairs = ((before.pearson, after.pearson), (before.kendall, after.kendall))
    values = [Cell("\N{EN DASH}" if math.isnan(value) else f"{value * 100:.1f}") for pair in pairs for value in pair]
    return (Cell(name), Cell(f"{after.n:,}"), *values)
