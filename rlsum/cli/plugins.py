"""Commands of other packages: each is a typer app, named by an entry point in the group ``rlsum.commands``."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import typer

GROUP = "rlsum.commands"


def plugins() -> Iterator[tuple[str, typer.Typer]]:
    """The name and the app of each. One that cannot be imported is left out, and a line on standard error says why."""
    for point in sorted({*entry_points(group=GROUP), *_not_yet_installed()}, key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except (ImportError, AttributeError) as error:
            print(f"rlsum: the command {point.name} is left out: {point.value} ({error})", file=sys.stderr)


def _not_yet_installed() -> list[EntryPoint]:
    """Those that a checkout declares and its installation, which is older, lacks. A line says so where one is used."""
    checkout = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if not checkout.is_file():
        return []
    declared = tomllib.loads(checkout.read_text(encoding="utf-8"))["project"]["entry-points"].get(GROUP, {})
    known = entry_points(group=GROUP).names
    points = [EntryPoint(name, value, GROUP) for name, value in declared.items() if name not in known]
    for point in points:
        if point.name in sys.argv[1:2]:
            print(f"rlsum: {point.name} is read from {checkout}; its installation is older: repeat it", file=sys.stderr)
    return points
