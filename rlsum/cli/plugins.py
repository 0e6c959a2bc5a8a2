"""Commands of other packages: each is a typer app, named by an entry point in the group ``rlsum.commands``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points

import typer

GROUP = "rlsum.commands"


def plugins() -> Iterator[tuple[str, typer.Typer]]:
    """The name and the app of each. One that cannot be imported is left out, and a line on standard error says why."""
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except Exception as error:  # whatever another package raises must not end all commands
            print(f"rlsum: the command {point.name} is left out: {point.value} ({error})", file=sys.stderr)
