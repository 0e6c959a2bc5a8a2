"""``rlsum human-eval``: from outputs of several systems to a verdict by human judges."""

from __future__ import annotations

import typer

from rlsum.cli.human_eval import analyse, backup, booklets, build, collect, export, judges, plan, serve

app = typer.Typer(
    help="Ask people which system is better: plan and build a blind study, collect judgments, analyse them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.command()(plan.plan)
app.command()(build.build)
app.command()(serve.serve)
app.command()(serve.links)
app.command()(serve.revoke)
app.command()(backup.backup)
app.command()(booklets.booklets)
app.command()(judges.judges)
app.command()(export.export)
app.command()(collect.collect)
app.command()(analyse.analyse)
