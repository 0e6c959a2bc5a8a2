"""``rlsum rewards``: which rewards there are, and how one is written."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType


def rewards(
    name: Annotated[str | None, typer.Argument(help="A reward, to see its options, defaults and source.")] = None,
) -> None:
    """List the rewards, or explain one. Every reward is also a metric.

    **Examples**

    rlsum rewards

    rlsum rewards sms
    """
    from rich.console import Console

    Console().print(_overview() if name is None else _explanation(name))


def _overview() -> RenderableType:
    """One row a reward. A plug-in that cannot be imported keeps its row, which says so."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    import rewards as registry

    table = Table.grid(padding=(0, 2, 0, 0))
    for name in registry.names():
        try:
            summary = _reflowed(registry.describe(name).summary)
        except registry.RewardError as error:
            summary = f"not available: {error}"
        table.add_row(Text(name, style="bold", no_wrap=True), Text(summary))
    written = "Written as name(option=value, ...), several separated by commas; `rlsum rewards NAME` lists the options."
    return Group(table, Text(f"\n{written}", style="dim"))


def _explanation(name: str) -> RenderableType:
    """What it scores, where the formula comes from, its options with their defaults, and how it is written."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    import rewards as registry
    from rewards.base import resolve

    described = registry.describe(name)
    found = resolve(name)
    module = inspect.getdoc(sys.modules[found.__module__]) or ""
    table = Table.grid(padding=(0, 2, 0, 2))
    for option, default in described.options.items():
        table.add_row(Text(option, style="bold"), Text("required" if default == "..." else f"default {default}"))
    parts: list[RenderableType] = [
        Text(name, style="bold"),
        Text(_reflowed(inspect.getdoc(found) or "(no description)")),
        Text(f"\n{_reflowed(module)}", style="dim"),
        Text("\nOptions" if described.options else "\nNo options", style="bold"),
        table,
    ]
    required = ", ".join(f"{option}=..." for option, default in described.options.items() if default == "...")
    written = f"{name}({required})" if required else name
    return Group(*parts, Text(f"\nrlsum evaluate outputs.jsonl --metrics '{written}'"))


def _reflowed(documentation: str) -> str:
    """Paragraphs as one line each, for the terminal to break."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", documentation).replace("``", "")
