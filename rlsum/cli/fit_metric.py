"""``rlsum fit-metric``: train a metric's encoder on human judgments, or a reward model on votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass
from rich.console import Console

from rewards.specs import Spec, as_spec
from rlsum.cli.options import JUDGMENTS, HumanScore, LowerIsBetter, expanded, listed, progress
from rlsum.errors import UserError
from rlsum.judgments.layout import Layout
from rlsum.metric_fitting.options import FitOptions
from rlsum.pages.table import Cell, Table
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.evaluation.statistics import Interval
    from rlsum.judgments.records import Judgment
    from rlsum.metric_fitting.correlations import Correlations
    from rlsum.metric_fitting.epochs import Fitted
    from rlsum.metric_fitting.examples import Judged
    from rlsum.metric_fitting.fitting import EpochValidation
    from rlsum.metric_fitting.fitting_votes import VoteValidation
    from rlsum.metric_fitting.votes import Agreement

J = TypeVar("J", bound="Judged")
V = TypeVar("V")
Pools = Callable[[Callable[..., list[Any]]], tuple[list[Any], ...]]  # see ``Sources``


@dataclass(frozen=True)
class Sources:
    """Which judgments are learned from, choose the epoch, and test."""

    valid: list[str] | None = Field(default=None, title="DATA...")
    """to choose the epoch; all up to the next option"""
    test: list[str] | None = Field(default=None, title="DATA...")
    """test before and after; likewise"""
    score: HumanScore = None
    lower_is_better: LowerIsBetter = ""
    groups: str = "*"
    """use only these groups, such as '*-en' for language pairs"""
    limit: int | None = Field(default=None, ge=4)
    """number of judgments to draw from DATA at random"""
    holdout: float = Field(default=0.1, ge=0.01, le=0.9)
    """share of items held out without ``valid``"""

    def pools(
        self, data: list[str], layout: Layout, seed: int, made: Callable[[list[Judgment], str, str], list[J]]
    ) -> tuple[list[J], list[J], list[J]]:
        """What is ``made`` of the judgments to train on, to validate, to test. Says how many, and which are in two."""
        from rlsum.data.corpus import drawn
        from rlsum.metric_fitting.examples import held_out

        def read(sources: list[str]) -> list[J]:
            return made(*self._read(sources, layout), self.groups)

        pool = drawn(read(data), self.limit, seed)
        training, validation = (pool, read(self.valid)) if self.valid else held_out(pool, self.holdout, seed)
        tested = read(self.test) if self.test else []
        known, (noun, seen) = {example.seen for example in training}, training[0].nouns
        if not self.valid and (shared := len(pool) - len(training) - len(validation)):
            typer.echo(
                f"--holdout: {shared:,} {seen} are held out under another id, and left out of training", err=True
            )
        for option, pool in (("--valid", validation if self.valid else []), ("--test", tested)):
            if shared := sum(example.seen in known for example in pool):
                typer.echo(f"{option}: {shared:,} of {len(pool):,} {seen} are also in the training data", err=True)
        typer.echo(f"{len(training):,} {noun} to train on, {len(validation):,} to validate, {len(tested):,} to test")
        return training, validation, tested

    def _read(self, sources: list[str], layout: Layout) -> tuple[list[Judgment], str]:
        """The judgments and their human score. Prints notes, and what is left out."""
        from rlsum.judgments.orientation import human_score
        from rlsum.judgments.registry import load
        from rlsum.metric_fitting.examples import scored

        if twice := [source for number, source in enumerate(sources) if source in sources[:number]]:
            raise UserError(f"{twice[0]} is given twice; leave one out")
        (columns, named), lower = layout.with_score(self.score), listed(self.lower_is_better)
        loaded = [load(source, layout=columns, lower_is_better=lower) for source in sources]
        first, score = human_score(loaded[0], named, lower)
        loaded = [first, *loaded[1:]]
        rows = [row for judgments in loaded for row in judgments.rows]
        for judgments in loaded:
            for reason, count in judgments.left_out.items():
                typer.echo(f"{judgments.name}: left out {count:,} {reason}")
            for note in judgments.notes:
                typer.echo(f"{judgments.name}: {note}")
        if (kept := len(scored(rows, score, self.groups))) < len(rows):
            counts = f"{len(rows) - kept:,} of {len(rows):,}"
            typer.echo(f"{', '.join(sources)}: left out {counts}, of other groups or without {score!r}")
        return rows, score


@expanded
def fit_metric(
    *,
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help=JUDGMENTS)],
    metric: Annotated[
        str, typer.Option(help="What to train: a contextual metric, such as twmd, or, on pairs, reward-model.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The learned metric; must be new.")],
    sources: Sources,
    layout: Layout,
    options: FitOptions,
) -> None:
    """Train a metric on human scores, or a reward model on people's choices between two texts.

    Each epoch is written and validated as the reward `learned(path=FOLDER)`; FOLDER keeps the best one on held-out
    articles. A judgment is a line of JSON: `{"id", "system", "candidate", "references": [...], "scores": {"overall":
    0.5}}`, optionally with `"group"`. Data in another layout are read as by `rlsum data judgments`.

    The encoder of a contextual metric learns scores, chosen by Pearson's correlation within groups
    (language pairs). `reward-model(model=...)` puts a number on any encoder, or on the last state of a causal model. It
    learns from votes: of two texts of an article a judge prefers the one with the higher score (Bradley and Terry, with
    Davidson's ties). A folder of `human-eval analyse` has them. FOLDER/length-controlled is fitted with length as a
    covariate.

    **Examples**

    rlsum fit-metric judgments.jsonl --metric 'twmd(encoder=roberta-base, centering=batch)' -o runs/metric

    rlsum fit-metric wmt-da:wmt15.tsv.gz wmt-da:wmt16.tsv.gz --test wmt-da:wmt17.tsv.gz --metric cka -o runs/metric

    rlsum fit-metric verdict --score overall --metric 'reward-model(model=minilm)' -o runs/preference

    rlsum evaluate outputs.jsonl --metrics 'rouge-l, learned(path=runs/metric)'
    """
    from rewards.embedding.learned import REWARD_MODEL, check_learnable, learned
    from rlsum.metric_fitting.epochs import check_folder
    from rlsum.metric_fitting.examples import check_varied, examples
    from rlsum.metric_fitting.fitting import check_scorable, fit, scored

    spec = as_spec(metric)
    options.check(of_votes=spec.name == REWARD_MODEL)
    pools = partial(sources.pools, data, layout, options.seed)
    if spec.name == REWARD_MODEL:
        _fit_votes(spec, out, options, pools)
        return
    start = check_learnable(spec)
    check_folder(out)
    training, validation, tested = pools(examples)
    for split, pool in (("training", training), ("validation", validation), ("test", tested)):
        if pool or split != "test":
            check_varied(split, pool)
    check_scorable(start, tested)
    before = scored(start, tested)
    with _telling(len(training), options, _line) as callbacks:
        fitted = fit(spec, training, validation, out, options, *callbacks)
    reward = learned(path=str(out), device=start.space.source.device)
    _print(fitted, before, scored(reward, tested))
    typer.echo(f"{out}: epoch {fitted.about['epoch']}, learned(path={out})")
    typer.echo(reward.signature)


def _fit_votes(spec: Spec, out: Path, options: FitOptions, pools: Pools) -> None:
    """Two rewards from the same votes: with length as people take it, and without what length explains."""
    from rewards.embedding.learned import learned
    from rlsum.metric_fitting.epochs import check_folder
    from rlsum.metric_fitting.fitting_votes import CONTROLLED, check_preference, fit_votes, score_gaps
    from rlsum.metric_fitting.votes import agreement, votes

    reward = check_preference(spec)
    check_folder(out)
    training, validation, tested = pools(lambda rows, score, groups: votes(rows, score, groups, reward.given))
    judged = [*training, *validation, *tested]
    if unnamed := sum(not vote.judge for vote in judged):
        typer.echo(
            f"{unnamed:,} of {len(judged):,} votes are of mean scores: no named judge rated both texts", err=True
        )
    rows, lines = [], []
    for folder, by_length in ((out, False), (out / CONTROLLED, True)):
        with _telling(len(training), options, _vote_line) as callbacks:
            fitted = fit_votes(reward, spec, training, validation, folder, options, by_length, *callbacks)
        name = "length apart" if by_length else "as voted"
        fresh = learned(path=str(folder), device=reward.options.device)
        agreed = {"validation": fitted.best.agreement if fitted.best else None}
        agreed["test"] = agreement(score_gaps(fresh, tested), tested) if tested else None
        for split, measured in agreed.items():
            if measured:
                rows.append(_agreement_row(f"{name}: {split}", measured))
            if measured and measured.undefined:
                count = f"{measured.undefined:,} of {measured.votes:,} votes of the {split}"
                typer.echo(f"{folder}: left out {count}, with a text too long for the model", err=True)
        if not fitted.about["validation"]["log_likelihood"] > fitted.history[0].quality:
            typer.echo(f"{folder}: held-out votes are no more likely by these scores than without any", err=True)
        lines += [f"{folder}: epoch {fitted.about['epoch']}, learned(path={folder})", fresh.signature]
    header = ("votes", "n", "accuracy", "of the longer", "tau", "longer higher")
    notes = (
        "Accuracy: of the votes for one of two texts, the share for the one with the higher score, or for the longer; "
        "tau: Kendall's within articles; longer higher: how often the longer text has the higher score.",
        "The epoch was chosen on the articles of the validation; intervals are over articles and judges.",
    )
    show([Table("Agreement with votes x 100", header, tuple(rows), notes)], Console())
    typer.echo("\n".join(lines))
    compare = f"rlsum compare articles-compare.yaml 'rewards.preference=learned(path={out})'"
    typer.echo(f"next, to train on it beside controls, where `rlsum init articles.csv` wrote the comparison: {compare}")


@contextmanager
def _telling(size: int, options: FitOptions, line: Callable[[V, bool], str]) -> Iterator[tuple[Any, Any]]:
    """What to call with each validation and each loss of a training on ``size`` examples."""
    with progress() as bar:
        task = bar.add_task("training", total=options.epochs * math.ceil(size / options.batch_size))

        def validated(validation: V, best: bool) -> None:
            bar.console.print(line(validation, best), markup=False, highlight=False, soft_wrap=True)

        def updated(loss: float) -> None:
            bar.update(task, advance=1, description=f"training, loss {loss:.4f}")

        yield validated, updated


def _line(validation: EpochValidation, best: bool) -> str:
    """A validation; epoch 0 is the start."""
    mean, loss = validation.mean, "" if math.isnan(validation.loss) else f"  loss {validation.loss:.4f}"
    line = f"epoch {validation.epoch}{loss}  validation: Pearson {mean.pearson:.4f}, Kendall {mean.kendall:.4f}"
    return line + ("  (best so far)" if best else "")


def _print(fitted: Fitted, before: dict[str, Correlations], after: dict[str, Correlations]) -> None:
    from rlsum.metric_fitting.correlations import average

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


def _vote_line(validation: VoteValidation, best: bool) -> str:
    loss = "" if math.isnan(validation.loss) else f"  loss {validation.loss:.4f}"
    votes = validation.agreement
    accuracy = f", accuracy {votes.accuracy.mean:.3f}, of the longer {votes.longer_accuracy.mean:.3f}" if votes else ""
    line = f"epoch {validation.epoch}{loss}  validation: log-likelihood {validation.quality:.4f}{accuracy}"
    return line + ("  (best so far)" if best else "")


def _agreement_row(name: str, agreement: Agreement) -> tuple:
    values = (agreement.accuracy, agreement.longer_accuracy, agreement.kendall, agreement.longer_chosen)
    return (Cell(name), Cell(f"{agreement.accuracy.n:,}"), *(Cell(_interval(interval)) for interval in values))


def _interval(interval: Interval) -> str:
    if math.isnan(interval.mean):
        return "\N{EN DASH}"
    ends = "no interval" if math.isnan(interval.low) else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return f"{100 * interval.mean:.1f} ({ends})"
