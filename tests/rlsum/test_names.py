"""Files and packages of others that are called like ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rlsum
from rlsum import names
from rlsum.names import foreign

ROOT = str(Path(rlsum.__file__).parent.parent)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In ``folder``, which comes first on the path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), ROOT])}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_ours_are_found():
    assert foreign("rewards") is None
    assert foreign("human_eval") is None


@pytest.mark.parametrize("file", ["rewards.py", "rewards/__init__.py"])
def test_a_file_called_rewards_is_named_in_one_line(tmp_path, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("def found(candidates): ...\n")
    ended = python(tmp_path, "-m", "rlsum", "rewards")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert str(tmp_path / file) in ended.stderr


def test_a_package_called_human_eval_stops_only_what_needs_ours(tmp_path):
    (tmp_path / "human_eval").mkdir()
    (tmp_path / "human_eval" / "__init__.py").touch()
    ended = python(tmp_path, "-m", "rlsum", "rewards")
    assert ended.returncode == 0
    assert "human_eval/__init__.py" in ended.stderr
    assert python(tmp_path, "-m", "rlsum", "human-eval", "--help").returncode == 2


def test_a_package_that_was_written_over_has_to_be_installed_again(monkeypatch, tmp_path):
    overwritten = str(names.HOME / "rewards" / "__init__.py")
    assert "--force-reinstall" in names.fix(overwritten)
    assert "--force-reinstall" in names.fix(str(names.HOME / "human_eval"))  # the other one was uninstalled
    assert names.fix(str(tmp_path / "rewards.py")).startswith("rename it")
    monkeypatch.setattr(names, "foreign", lambda name: overwritten)
    monkeypatch.delitem(sys.modules, "rewards", raising=False)
    with pytest.raises(ImportError, match="--force-reinstall"):
        names.ours("rewards")


def test_rlsum_rewards_always_means_ours(tmp_path):
    (tmp_path / "rewards.py").write_text("load = None\n")
    code = "from rlsum import rewards; print(rewards.load('rouge-1')(['a b'], [['a b']]))"
    assert python(tmp_path, "-c", code).stdout == "[1.]\n"
    assert python(tmp_path, "-c", "import rlsum.rewards, rewards; rewards.load('rouge-1')").returncode == 0
    code = "from rlsum import api; print(api.load('rouge-1')(['a b'], [['a b']]))"
    assert python(tmp_path, "-c", code).stdout == "[1.]\n"
    for module in ("rlsum.rewards", "rlsum.api"):
        assert "is imported as 'rewards' already" in python(tmp_path, "-c", f"import rewards, {module}").stderr
