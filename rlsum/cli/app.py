"""The command table."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from rewards.errors import RewardError
from rlsum import __version__
from rlsum.cli import (
    baseline,
    compare,
    configs,
    correlate,
    data,
    demo,
    evaluate,
    explain,
    fit_metric,
    generate,
    init,
    rewards,
    score,
    train,
)
from rlsum.errors import UserError, command_line

app = typer.Typer(
    name="rlsum",
    help="Train summarizers with metric rewards, and measure whether it helped.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


USER_ERRORS = (UserError, RewardError)

app.command()(init.init)
app.command()(configs.configs)
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


@cache  # a page of help asks for each command
def _human_eval() -> MutableMapping[str, Any]:
    from rlsum.cli.human_eval.app import app

    return get_group(app).commands


class _HumanEval(TyperGroup):
    """Imports the commands when one is asked for, since all other commands would wait for them."""

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Commands by name."""
        return _human_eval()

    @commands.setter
    def commands(self, added: MutableMapping[str, Any]) -> None:
        """Nothing: typer sets those that were added to the group, and none were."""


app.add_typer(
    typer.Typer(
        cls=_HumanEval,
        help="Ask people which system is better: plan and build a blind study, collect judgments, analyse them.",
        no_args_is_help=True,
    ),
    name="human-eval",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rlsum {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Train summarizers with metric rewards, and measure whether it helped."""
    context.with_resource(command_line())
