"""``rlsum rewards``: the list of rewards, the options of one, their comparison with other implementations."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text


def rewards(
    name: Annotated[str | None, typer.Argument(help="A reward: show its options, defaults and source.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare with rouge-score and other packages that are installed.")
    ] = False,
) -> None:
    """List the rewards, or describe one. Every reward is also a metric.

    With --verify, scores of a few texts are compared with those of other implementations; the exit code is 1 where they
    differ.

    **Examples**

    rlsum rewards

    rlsum rewards sms

    rlsum rewards --verify
    """
    if verify:
        _verify()
        return
    Console().print(_overview() if name is None else _explanation(name))


def _verify() -> None:
    from rewards.verification import verify

    table = Table("metric", "oracle", "largest difference", "", box=None, padding=(0, 2, 0, 0))
    rows = verify()
    for row in rows:
        verdict = row.missing or ("agree" if row.agrees else "DIFFER")
        difference = "" if row.missing else f"{row.difference:.1e}"
        table.add_row(Text(row.metric), f"{row.oracle} {row.version}".strip(), difference, Text(verdict))
    Console().print(table)
    if not all(row.agrees or row.missing for row in rows):
        raise typer.Exit(1)


def _overview() -> RenderableType:
    """One row per reward. The row of a plug-in that cannot be imported says so."""
    import rewards as registry

    table = Table.grid(padding=(0, 2, 0, 0))
    for name in registry.names():
        try:
            summary = registry.describe(name).summary
        except registry.RewardError as error:
            summary = f"not available: {error}"
        table.add_row(Text(name, style="bold", no_wrap=True), Text(summary))
    usage = "Write name(option=value, ...), and commas between rewards. `rlsum rewards NAME` lists the options."
    return Group(table, Text(f"\n{usage}", style="dim"))


def _explanation(name: str) -> RenderableType:
    import rewards as registry
    from rewards.documentation import flowing

    described = registry.describe(name)
    table = Table.grid(padding=(0, 2, 0, 2))
    for key, option in described.explained.items():
        default = "required" if option.default == "..." else f"default {option.default}"
        values = "; ".join(filter(None, (" | ".join(option.choices), option.range, option.meaning)))
        table.add_row(Text(key, style="bold"), Text(default, no_wrap=True), Text(values))
    parts: list[RenderableType] = [Text(name, style="bold"), Text(described.text or "(no description)")]
    if described.scores:
        parts += [Text("\nScores", style="bold"), Text(described.scores)]
    parts += [Text("\nOptions" if described.options else "\nNo options", style="bold"), table]
    if described.source:
        parts += [Text("\nFrom", style="bold"), Text(flowing(described.source), style="dim")]
    return Group(*parts, Text(f"\nrlsum evaluate outputs.jsonl --metrics '{described.written}'"))
