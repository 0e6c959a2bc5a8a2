"""The table of commands of ``rlsum human-eval``."""

import typer

from rlsum.cli.human_eval import analyse, backup, booklets, build, collect, export, judges, plan, serve

app = typer.Typer(rich_markup_mode="markdown")
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
