"""The command table."""

from __future__ import annotations

import typer

from rlsum.records import RecordError

app = typer.Typer(
    name="rlsum",
    help="Train summarizers with metric rewards, and measure whether it helped.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def user_errors() -> tuple[type[Exception], ...]:
    """Exceptions whose message is meant for the user; all others keep their traceback."""
    from rewards.base import RewardError

    return (RecordError, RewardError)
