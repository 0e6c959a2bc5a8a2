"""The commands by name; what a wrong use of one is told: one line, which ends in an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from rewards.base import names
from rlsum.errors import UserError
from rlsum.parsing import problem_of

UsageError: Any = typer.BadParameter.__mro__[1]  # of click, which typer has a copy of


class Command(TyperCommand):
    """A command that is told of a wrong use in one line, which ends in the example that is most like it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raises UserError for an option or argument that is missing, unknown or wrong."""
        before = [*args]
        options = {name: entry for entry in self.params if entry.param_type_name == "option" for name in entry.opts}
        try:
            return super().parse_args(ctx, _each_named(args, options))
        except UsageError as error:
            examples = [line.strip() for line in (self.help or "").partition("**Example")[2].splitlines()]
            typed = f"{ctx.command_path} {' '.join(before)}"
            near = get_close_matches(typed, [line for line in examples if line.startswith("rlsum ")], n=1, cutoff=0)
            raise UserError(_told(error, ctx.command_path, near)) from None


def _each_named(args: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """``--references R R2`` as ``--references R --references R2``: one with dots takes all up to the next option.

    Raises UserError where names of metrics are so separated, and for a second value of an option that has one.
    """
    written: list[str] = []
    option, has_value, seen = "", False, set[str]()
    for word in args:
        if word.startswith("-"):
            option, has_value = word.partition("=")[0], "=" in word
            single = option in options and not (options[option].multiple or options[option].is_flag)
            if single and options[option].name in seen:
                raise UserError(f"{option}: given twice; give one value, or several as `--help` says")
            seen.update([options[option].name] if single else [])
        elif has_value and option == "--metrics" and word.partition("(")[0] in names() and not Path(word).exists():
            raise UserError(f"--metrics {written[-1]} {word}: write commas, as in --metrics '{written[-1]},{word}'")
        elif has_value and option in options and str(options[option].metavar).endswith("..."):
            written.append(option)
        else:
            has_value = True
        written.append(word)
    return written


# Command -> its file, which has a function of its name, or the group ``app`` of commands.
COMMANDS = {
    name: f"rlsum.cli.{name.replace('-', '_')}"
    for name in (
        *("init", "configs", "train", "generate", "evaluate", "score", "explain"),
        *("rewards", "baseline", "fit-metric", "correlate", "compare", "demo", "data"),
    )
}


class Commands(MutableMapping[str, Any]):
    """Commands by name, imported when they are asked for: a command does not wait for the others."""

    def __init__(self, files: Mapping[str, str], others: Mapping[str, Any]) -> None:
        self.files, self.made = files, dict(others)

    def __getitem__(self, name: str) -> Any:
        if name in self.files and name not in self.made:
            module = import_module(self.files[name])
            group = getattr(module, "app", None) or typer.Typer(add_completion=False, rich_markup_mode="markdown")
            if not group.registered_commands:
                group.command(name)(getattr(module, name.replace("-", "_")))
            in_one_line(group)
            self.made[name] = get_command(group)
            self.made[name].name = name  # in the list of commands, also of a group
        return self.made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.made[name] = command

    def __delitem__(self, name: str) -> None:
        del self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.files, *(name for name in self.made if name not in self.files)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Told(TyperGroup):
    """A group that is told of an unknown command in one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Raises UserError for an unknown command."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            raise UserError(_told(error, ctx.command_path)) from None


class Group(Told):
    """The commands of ``files``, imported when they are asked for, and those that are added."""

    files: Mapping[str, str] = COMMANDS

    @property
    def commands(self) -> Commands:
        """By name."""
        return self._commands

    @commands.setter
    def commands(self, others: Mapping[str, Any]) -> None:
        """Those of plugins."""
        self._commands = Commands(self.files, others)


def _told(error: Any, command: str, examples: Sequence[str] = ()) -> str:
    problem = _wrong_value(error) or error.format_message().rstrip(".").replace(". Did you", "; did you")
    written = [f"for example `{example}`" for example in examples]
    return "; ".join([f"{problem[0].lower()}{problem[1:]}", *written, f"see `{command} --help`"])


def _wrong_value(error: Any) -> str:
    """The option, its value and what is wrong with it, where typer has asked pydantic and leaves the value out."""
    faults = getattr(error.__cause__ or error.__context__, "errors", None)
    if faults is None or error.param is None:
        return ""
    (fault, *_), names = faults(), error.param.opts
    return f"{names[0]} {fault['input']}: {problem_of(fault)}"


def in_one_line(app: typer.Typer) -> None:
    """Let all commands of an application, and of the groups in it, be told so."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            in_one_line(group.typer_instance)
