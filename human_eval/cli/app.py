"""The commands of ``rlsum human-eval``."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from typing import Any

import typer
from typer.main import get_group

from rlsum.cli.usage import Told, in_one_line


@cache  # a page of help asks for each command
def _commands() -> MutableMapping[str, Any]:
    from human_eval.cli import analyse, backup, booklets, build, collect, export, judges, plan, serve

    commands = typer.Typer(rich_markup_mode="markdown")
    for command in (
        plan.plan,
        build.build,
        serve.serve,
        serve.links,
        serve.revoke,
        backup.backup,
        booklets.booklets,
        judges.judges,
        export.export,
        collect.collect,
        analyse.analyse,
    ):
        commands.command()(command)
    in_one_line(commands)
    return get_group(commands).commands


class _Group(Told):
    """Imports the commands when one of them is asked for: every other command of ``rlsum`` would wait for them."""

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Commands by name."""
        return _commands()

    @commands.setter
    def commands(self, added: MutableMapping[str, Any]) -> None:
        """Nothing: typer sets those that were added to the group, and none were."""


app = typer.Typer(
    cls=_Group,
    help="Ask people which system is better: plan and build a blind study, collect judgments, analyse them.",
    no_args_is_help=True,
)
