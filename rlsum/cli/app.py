"""The command table."""

from __future__ import annotations

from typing import Annotated

import typer

from rewards.errors import RewardError
from rlsum import __version__
from rlsum.cli import (
    baseline,
    compare,
    configurations,
    correlate,
    data,
    demo,
    evaluate,
    explain,
    fit_metric,
    generate,
    rewards,
    score,
    train,
)
from rlsum.cli.human_eval import analyse, backup, booklets, build, collect, export, judges, plan, serve
from rlsum.errors import UserError

app = typer.Typer(
    name="rlsum",
    help="Train summarizers with metric rewards, and measure whether it helped.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


USER_ERRORS = (UserError, RewardError)

app.command()(configurations.init)
app.command()(configurations.configs)
app.command()(train.train)
app.command()(generate.generate)
app.command()(evaluate.evaluate)
app.command()(score.score)
app.command()(explain.explain)
app.command()(rewards.rewards)
app.command()(baseline.baseline)
app.command()(fit_metric.fit_metric)
app.command()(correlate.correlate)
app.command()(compare.compare)
app.command()(demo.demo)
app.add_typer(data.app, name="data")

human_eval = typer.Typer(
    help="Ask people which system is better: plan and build a blind study, collect judgments, analyse them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
human_eval.command()(plan.plan)
human_eval.command()(build.build)
human_eval.command()(serve.serve)
human_eval.command()(serve.links)
human_eval.command()(serve.revoke)
human_eval.command()(backup.backup)
human_eval.command()(booklets.booklets)
human_eval.command()(judges.judges)
human_eval.command()(export.export)
human_eval.command()(collect.collect)
human_eval.command()(analyse.analyse)
app.add_typer(human_eval, name="human-eval")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rlsum {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Train summarizers with metric rewards, and measure whether it helped."""
