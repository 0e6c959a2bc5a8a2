"""What several commands share: options, dataclasses of options, a progress bar, printing."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from typer.models import OptionInfo

from rewards.options import bounds, meanings, nearest
from rewards.references import Lists
from rlsum.api import STANDARD as STANDARD
from rlsum.errors import UserError
from rlsum.files import check_folder
from rlsum.pages.formats import FORMATS
from rlsum.pages.terminal import show
from rlsum.parsing import options_checked

if TYPE_CHECKING:
    from rlsum.api import Advance
    from rlsum.config_reference import Key
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.scoring.evaluation import Evaluation

JUDGMENTS = "Judgments: JSONL or a table, hf://owner/name, or NAME:PATH for public data."

Metrics = Annotated[
    str, typer.Option(help="Metrics with their options, separated by commas; `rlsum rewards` lists them.")
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE", help="Language of the texts, such as fr, hi, ja: words, stems, sentences, stop words."
    ),
]
Clean = Annotated[
    bool,
    typer.Option(
        "--clean",
        help="Score texts without thinking blocks, special tokens, HTML, Markdown, preambles; records keep them.",
    ),
]
ReferenceLists = Annotated[
    Lists | None,
    typer.Option(help="What a list of texts in a column of references is, where its name does not say so."),
]
HumanScore = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[=COLUMN]",
        help="The human score; with its column, or those of several judges, with commas or *. Default: overall, or the "
        "only one.",
    ),
]
LowerIsBetter = Annotated[
    str, typer.Option(help="Scores to negate, such as errors or ranks, separated by commas; they become negated_NAME.")
]
ArticleFile = Annotated[
    Path | None,
    typer.Option("--articles", help="Articles of the outputs, joined by id, or row by row where they have no ids."),
]
ArticleColumn = Annotated[str | None, typer.Option(help="Column of the articles in --articles. Default: by name.")]
OutFolder = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FOLDER", help=f"Write {', '.join(FORMATS)}, .csv, .json, .png.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the files of FOLDER.")]
LongSignatures = Annotated[
    bool, typer.Option("--long-signatures", help="Write out the names of the signatures' fields.")
]
Resamples = Annotated[int, typer.Option(min=1, help="Resamples of each interval and each test.")]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same intervals and p-values.")]


@dataclass(frozen=True)
class Report:
    """Where a result is written and how it is printed."""

    out: OutFolder = None
    overwrite: Overwrite = False
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with raw scores (not x 100).")] = False
    long_signatures: LongSignatures = False

    def check(self, files: Iterable[str]) -> None:
        """Raise UserError where one of the files could not be written."""
        if self.out is not None:
            check_folder("out", self.out, files, self.overwrite)

    def show(self, result: MetaEvaluation | Evaluation, to_json: Callable[[Any], str]) -> None:
        """Save a result, if that is asked, and print it."""
        written = [] if self.out is None else result.save(self.out)
        if self.as_json:
            typer.echo(to_json(result))
            return
        show(result.blocks(self.long_signatures), Console())
        if self.out is not None:
            typer.echo(f"{self.out}: {', '.join(path.name for path in written)}")


# ---- dataclasses as options ------------------------------------------------------------------------------------------


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses are options, one for each field; it gets the objects.

    A field is a typer.Option, or of pydantic: the string under it is its help, a ``serialization_alias`` the option's
    name where it is another. One without a string is explained in a dataclass of the class's ``EXPLAINED_BY``. A
    ``PANEL`` is the heading of all in the help.
    """
    declared = inspect.signature(command, eval_str=True).parameters
    kinds: dict[str, Any] = {
        name: param.annotation for name, param in declared.items() if dataclasses.is_dataclass(param.annotation)
    }
    made = {name: [_parameter(field.name, kind) for field in dataclasses.fields(kind)] for name, kind in kinds.items()}

    @wraps(command)
    def run(**arguments: Any) -> None:
        objects = {}
        for name, kind in kinds.items():
            values = {param.name: arguments.pop(param.name) for param in made[name]}
            with options_checked():
                objects[name] = kind(**values)
        command(**arguments, **objects)

    parameters = [param for name, param in declared.items() for param in made.get(name, [param])]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {param.name: param.annotation for param in parameters}
    return run


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    """A field as an option of the command line."""
    hint, default = get_type_hints(kind, include_extras=True)[name], kind.__dataclass_fields__[name].default
    if not any(isinstance(mark, OptionInfo) for mark in getattr(hint, "__metadata__", ())):
        field = kind.__pydantic_fields__[name]
        default, hint = field.default, _option(name, kind, field)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


explanations = cache(meanings)  # reads source


def _option(name: str, kind: Any, field: Any) -> Any:
    """The type of a field of pydantic with its option."""
    explained, end = explanations(kind).get(name), ""
    if explained is None:
        texts = map(explanations, kind.EXPLAINED_BY)
        explained, end = next(texts_of[name] for texts_of in texts if name in texts_of), kind.ELSE
    least = next((limit.ge for limit in field.metadata if hasattr(limit, "ge")), None)
    most = next((limit.le for limit in field.metadata if hasattr(limit, "le")), None) if least is not None else None
    # where typer shows the least and the largest value itself, only the others are said
    shown_by_typer = ("ge", "le") if least is not None else ()
    limits = bounds(limit for limit in field.metadata if not any(hasattr(limit, sign) for sign in shown_by_typer))
    names = "|".join(kind.__pydantic_fields__)
    text = re.sub(f"``({names})``", lambda match: f"`--{match[1].replace('_', '-')}`", explained).replace("``", "`")
    text = "; ".join(filter(None, [f"{text[0].upper()}{text[1:]}", limits])) + f"{end}."
    hint: Any = field.annotation
    if NoneType in get_args(hint):
        members = [member for member in get_args(hint) if member is not NoneType]
        words = [word for member in members if get_origin(member) is Literal for word in get_args(member)]
        if bool in members and words:
            words = ["true", "false", *words]
        hint = (Literal[*words] if words else _repeated(members[0])) | None
    named = field.serialization_alias or (name if field.annotation is bool else "")  # without --no-... for a switch
    flags = [f"--{named.replace('_', '-')}"] if named else []
    panel = getattr(kind, "PANEL", None)
    shown = typer.Option(*flags, help=text, min=least, max=most, metavar=field.title, rich_help_panel=panel)
    return Annotated[_repeated(hint), shown]


def _repeated(hint: Any) -> Any:
    """A type as typer knows it: a list, of an option that is given several times, for a tuple of any length."""
    return list[get_args(hint)[0]] if get_origin(hint) is tuple else hint  # type: ignore[misc]


# ---- names, progress, printing ---------------------------------------------------------------------------------------


def chosen(option: str, written: str, known: tuple[str, ...]) -> list[str]:
    """The names that an option lists, without duplicates. Raises UserError for an unknown name."""
    names = list(dict.fromkeys(name.strip() for name in written.split(",")))
    for name in names:
        if name not in known:
            raise UserError(f"{option}: {name!r} is unknown{nearest(name, known)}; use {', '.join(known)}")
    return names


def listed(written: str) -> list[str]:
    """The names that an option lists, separated by commas."""
    return list(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))


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


def print_keys(title: str, keys: list[Key]) -> None:
    """Print keys of a configuration with their defaults, values, ranges and meanings."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for key in keys:
        default = "required" if key.default == "required" else f"default {key.default}"
        allowed = " | ".join(key.values) if len(key.values) > 1 else key.range
        meaning = f"{allowed}; {key.meaning}" if allowed else key.meaning
        table.add_row(Text(key.name, style="bold"), Text(default), Text(meaning.replace("``", "")))
    Console().print(Text(f"\n{title}", style="bold underline"), table)


def print_log() -> None:
    """Print the fields of a run's log with their meanings and warning signs."""
    from rlsum.training.trainer import FIELDS

    table = Table.grid(padding=(0, 2, 0, 0))
    for _, field in sorted(FIELDS.items()):
        texts = (text.replace("`", "") for text in (field.meaning, field.sign))
        table.add_row(Text(field.name, style="bold"), *map(Text, texts))
    Console().print(Text("\nmetrics.jsonl: field, meaning, warning sign and remedy", style="bold underline"), table)
