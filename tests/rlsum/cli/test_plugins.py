"""Commands of other packages."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import typer

from rlsum.cli.plugins import GROUP

ROOT = Path(__file__).resolve().parents[3]
GREET = """
import typer

app = typer.Typer(help="Greet people.", no_args_is_help=True)


@app.callback()
def group(): ...


@app.command()
def hello(name: str):
    print("hello", name)
"""


@pytest.fixture
def rlsum_with(tmp_path):
    """Run ``rlsum`` where a package is installed whose entry point ``greet`` has a value."""

    def run(value, *arguments):
        info = tmp_path / "greeter-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\ngreet = {value}\n")
        (tmp_path / "greeter.py").write_text(GREET)
        (tmp_path / "broken.py").write_text("raise RuntimeError('no license')")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
        command = [sys.executable, "-m", "rlsum", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)

    return run


def test_an_installed_package_offers_a_command(rlsum_with):
    assert rlsum_with("greeter:app", "greet", "hello", "anna").stdout == "hello anna\n"


@pytest.mark.parametrize("value", ["greeter:lost", "lost:app", "broken:app"])
def test_a_command_that_cannot_be_imported_is_named_and_the_others_work(rlsum_with, value):
    ended = rlsum_with(value, "rewards", "--help")
    assert ended.returncode == 0
    assert f"the command greet is left out: {value}" in ended.stderr


def test_studies_are_such_a_command():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    module, _, name = declared["human-eval"].partition(":")
    assert isinstance(getattr(import_module(module), name), typer.Typer)
