"""What several commands share: options, names separated by commas, a progress bar."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rewards.options import meanings, nearest, range_of
from rlsum.api import STANDARD as STANDARD
from rlsum.cli.reading import Language as Language
from rlsum.errors import UserError
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.api import Advance
    from rlsum.config_reference import Key
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.scoring.evaluation import Evaluation

JUDGMENTS = "Judgments: JSONL or a table, hf://owner/name, or NAME:PATH for public data."

Metrics = Annotated[
    str, typer.Option(help="Metrics with their options, separated by commas; `rlsum rewards` lists them.")
]
LongSignatures = Annotated[
    bool, typer.Option("--long-signatures", help="Write out the names of the signatures' fields.")
]
HumanScore = Annotated[
    str | None, typer.Option("--score", help="The human score to use. Default: overall, or the only one.")
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Write HTML, Markdown, LaTeX, CSV, JSON, PNG.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the files of FOLDER.")]


def with_options(kind: type, *others: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each field of a dataclass of pydantic, which it gets as its parameter ``how``.

    The string under a field is its help; a field without one is explained, and bounded, in one of the ``others``.
    """
    made = {name: _parameter(name, kind, others) for name in kind.__pydantic_fields__}  # type: ignore[attr-defined]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters

        @wraps(command)
        def run(**given: Any) -> None:
            how = kind(**{name: given.pop(name) for name in made})
            command(**given, how=how)

        parameters = [part for name, one in own.items() for part in (made.values() if name == "how" else [one])]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorated


def _parameter(name: str, kind: Any, others: Sequence[Any]) -> inspect.Parameter:
    """A field as an option of the command line."""
    field, explained, end = kind.__pydantic_fields__[name], meanings(kind).get(name), ""
    bounded = field
    if explained is None:  # a section whose own default is None follows another one
        other = next(
            each for each in others if getattr(each.__pydantic_fields__.get(name), "default", None) is not None
        )
        explained, bounded, end = meanings(other)[name], other.__pydantic_fields__[name], "; default: the run's"
    least = next((limit.ge for limit in bounded.metadata if hasattr(limit, "ge")), None)
    limits = range_of(bounded) if least is None else ""  # typer shows a least value itself
    text = re.sub("``(.*?)``", lambda match: f"`--{match[1].replace('_', '-')}`", explained)
    text = "; ".join(filter(None, [f"{text[0].upper()}{text[1:]}", limits])) + f"{end}."
    members = [member for member in get_args(field.annotation) if member is not NoneType]
    hint: Any = next((member for member in members if get_origin(member) is Literal), members[0] if members else None)
    annotation = hint | None if members else field.annotation
    shown = typer.Option(help=text, min=least, metavar=field.title)
    kept = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kept, default=field.default, annotation=Annotated[annotation, shown])


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
