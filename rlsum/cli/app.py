"""The command table."""

from __future__ import annotations

from typing import Annotated

import typer

from rewards.errors import RewardError
from rlsum import __version__
from rlsum.cli.plugins import plugins
from rlsum.cli.usage import Group, in_one_line
from rlsum.errors import UserError, command_line

app = typer.Typer(
    name="rlsum",
    cls=Group,
    help="Train summarizers with metric rewards, and measure whether it helped.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


USER_ERRORS = (UserError, RewardError)
for _name, _commands_of_plugin in plugins():
    app.add_typer(_commands_of_plugin, name=_name)
in_one_line(app)


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
