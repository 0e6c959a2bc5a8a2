"""The pages of help show every word that commands and options say: nothing is taken for markup."""

import re

import click
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from rlsum.cli.app import app
from rlsum.cli.usage import COMMANDS


def commands(command, path=()):
    """Every command and group, by the words that call it."""
    yield path, command
    context = click.Context(command)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from commands(command.get_command(context, name), (*path, name))


def plain(text):
    """A text without frames, line breaks, and the marks of code and of bold words."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", re.sub(r"\*\*|`", "", text)).split())


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*each, id=" ".join(each[0])) for each in commands(get_command(app))]
)
def test_help_shows_what_is_declared(path, command):
    page = plain(CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "4000", "TERMINAL_WIDTH": "4000"}).output)
    said = [*(command.help or "").split("\n\n"), *(getattr(option, "help", None) or "" for option in command.params)]
    assert [text for text in map(plain, said) if text not in page] == []


def test_every_command_has_its_name_in_the_list():
    page = plain(CliRunner().invoke(app, ["--help"]).output)
    assert [name for name in COMMANDS if f" {name} " not in page] == []
