"""The commands of ``rlsum human-eval``."""

from __future__ import annotations

import typer

from rlsum.cli.usage import Group

TOGETHER = {"links": "serve", "revoke": "serve", "import-judgments": "analyse"}  # commands in the file of another one
COMMANDS = {
    name: f"human_eval.cli.{TOGETHER.get(name, name)}"
    for name in (
        *("plan", "build", "serve", "links", "revoke", "backup"),
        *("booklets", "judges", "export", "collect", "analyse", "import-judgments"),
    )
}


class _Group(Group):
    files = COMMANDS


app = typer.Typer(
    cls=_Group,
    help="Ask people which system is better: plan and build a blind study, collect judgments, analyse them.",
    no_args_is_help=True,
)
