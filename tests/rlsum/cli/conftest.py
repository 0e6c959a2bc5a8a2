"""The command line, run in this process."""

from __future__ import annotations

import sys

import pytest

from rlsum.cli import main


@pytest.fixture
def rlsum(monkeypatch, capsys):
    """Run a command: (exit code, standard output, standard error)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rlsum", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "110")
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run
