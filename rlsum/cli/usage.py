"""What a wrong use of a command is told: one line, which ends in an example."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rlsum.errors import UserError

UsageError: Any = typer.BadParameter.__mro__[1]  # of click, which typer has a copy of


class Command(TyperCommand):
    """A command that is told of a wrong use in one line, which ends in the example that is most like it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raises UserError for an option or argument that is missing, unknown or wrong."""
        before = [*args]
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            examples = [line.strip() for line in (self.help or "").partition("**Example")[2].splitlines()]
            typed = f"{ctx.command_path} {' '.join(before)}"
            near = get_close_matches(typed, [line for line in examples if line.startswith("rlsum ")], n=1, cutoff=0)
            raise UserError(_told(error, ctx.command_path, near)) from None


class Group(TyperGroup):
    """A group of commands that is told of an unknown one in one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Raises UserError for an unknown command."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            raise UserError(_told(error, ctx.command_path)) from None


def _told(error: Any, command: str, examples: Sequence[str] = ()) -> str:
    problem = error.format_message().rstrip(".").replace(". Did you", "; did you")
    written = [f"for example `{example}`" for example in examples]
    return "; ".join([f"{problem[0].lower()}{problem[1:]}", *written, f"see `{command} --help`"])


def in_one_line(app: typer.Typer) -> None:
    """Let all commands of an application, and of the groups in it, be told so."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            in_one_line(group.typer_instance)
