"""What several commands share: options, names separated by commas, a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rewards.options import nearest
from rlsum.api import STANDARD as STANDARD
from rlsum.cli.reading import Language as Language
from rlsum.errors import UserError
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.api import Advance
    from rlsum.config_reference import Key
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.scoring.evaluation import Evaluation

Made = TypeVar("Made")

JUDGMENTS = "Judgments: JSONL or a table, hf://owner/name, or NAME:PATH for public data."

Metrics = Annotated[
    str, typer.Option(help="Metrics with their options, separated by commas; `rlsum rewards` lists them.")
]
LongSignatures = Annotated[
    bool, typer.Option("--long-signatures", help="Write out the names of the signatures' fields.")
]
HumanScore = Annotated[str, typer.Option("--score", help="The human score to use.")]
OutFolder = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Write HTML, Markdown, LaTeX, CSV, JSON, PNG.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the files of FOLDER.")]


def arguments(kind: type[Made], options: Mapping[str, Any]) -> Made:
    """A dataclass from a command's options, its ``locals()``, by the names of the fields."""
    return kind(**{field.name: options[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def chosen(option: str, written: str, known: tuple[str, ...]) -> list[str]:
    """The names that an option lists, without duplicates. Raises UserError for an unknown name."""
    names = list(dict.fromkeys(name.strip() for name in written.split(",")))
    for name in names:
        if name not in known:
            raise UserError(f"{option}: {name!r} is unknown{nearest(name, known)}; use {', '.join(known)}")
    return names


def progress() -> Progress:
    """A bar on standard error that disappears when it is done; nothing where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def bars() -> Iterator[Advance]:
    """A function to call with a name, how much is done and of how much: it draws a bar for each name."""
    tasks: dict[str, TaskID] = {}
    with progress() as drawn:

        def advance(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = drawn.add_task(name, total=total)
            drawn.update(tasks[name], completed=done)

        yield advance


def report(result: MetaEvaluation | Evaluation, out: Path | None, as_json: str | None, long_signatures: bool) -> None:
    """Save a result to ``out``, if that is given, and print it: ``as_json`` if that is given, otherwise its tables."""
    written = [] if out is None else result.save(out)
    if as_json is not None:
        typer.echo(as_json)
        return
    show(result.blocks(long_signatures), Console())
    if out is not None:
        typer.echo(f"{out}: {', '.join(path.name for path in written)}")


def print_keys(title: str, keys: list[Key]) -> None:
    """Print keys of a configuration with their defaults, values, ranges and meanings."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for key in keys:
        default = "required" if key.default == "required" else f"default {key.default}"
        allowed = " | ".join(key.values) if len(key.values) > 1 else key.range
        meaning = f"{allowed}; {key.meaning}" if allowed else key.meaning
        table.add_row(Text(key.name, style="bold"), Text(default), Text(meaning.replace("``", "")))
    Console().print(Text(f"\n{title}", style="bold underline"), table)
