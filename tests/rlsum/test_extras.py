"""Packages that an extra installs: each that is imported is known, and where it is missing one line names the extra."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rewards.errors import EXTRAS, missing_package
from rlsum.records import Output, write_outputs

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = {"numpy", "rich", "typer", "pydantic", "annotated_types", "yaml", "regex"}
BROUGHT = {
    "click": "typer",
    "tokenizers": "transformers",
    "huggingface_hub": "transformers",
    "markupsafe": "jinja2",
    "filelock": "datasets",
}  # by another one


def imported() -> set[str]:
    """The top-level packages that any module of ours imports."""
    found = set()
    for path in (path for name in ("rewards", "rlsum", "human_eval") for path in (ROOT / name).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - {"rewards", "rlsum", "human_eval"} - sys.stdlib_module_names


def test_every_imported_package_is_of_the_core_or_an_extra():
    assert imported() - CORE - BROUGHT.keys() <= EXTRAS.keys()


def test_the_core_is_imported_and_each_extra_brings_its_packages():
    names = {re.split(r"[>=<\[]", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert (
        names
        == {name.replace("yaml", "pyyaml").replace("_", "-") for name in CORE}
        <= {*imported(), "pyyaml", "annotated-types"}
    )
    for package, extra in EXTRAS.items():
        distribution = {
            "ot": "pot",
            "pyarrow": "datasets",
            "pandas": "datasets",
        }.get(package, package.replace("_", "-"))
        assert any(line.startswith(distribution) for line in PROJECT["optional-dependencies"][extra]), package


def without(packages: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line where ``packages`` cannot be imported."""
    code = f"import sys; sys.modules.update(dict.fromkeys({packages.split()!r})); from rlsum.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "out.jsonl"
    write_outputs(path, [Output("1", "a storm hit", ("the storm hit ohio",), "storms hit ohio", "model")])
    return path


def test_a_missing_package_is_one_line_with_its_extra(outputs, tmp_path):
    ended = without("nltk", "score", outputs, "--metrics", "rouge-l")
    assert ended.returncode == 2
    told = ended.stderr.splitlines()[-1]
    assert told.endswith("the package nltk is not installed; run pip install 'rlsum[lexical]'")
    ended = without("torch transformers datasets", "train", "demo/mle", f"run={tmp_path / 'r'}")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "rlsum[train]" in ended.stderr


def test_a_package_that_is_not_whole_is_not_said_to_be_missing():
    error = ModuleNotFoundError("No module named 'spacy.lang.xx'", name="spacy.lang.xx")
    assert "lacks spacy.lang.xx; run pip install --upgrade --force-reinstall spacy" in missing_package(error)


def test_the_core_alone_scores_words_and_evaluates(outputs):
    metrics = "rouge-l(stemmer=false), bleu"
    ended = without(" ".join(EXTRAS), "evaluate", outputs, "--metrics", metrics, "--json")
    assert ended.returncode == 0, ended.stderr
    data = json.loads(ended.stdout)
    assert list(data["systems"][0]["metrics"]) == ["rouge-l"]
    assert "rlsum[lexical]" in data["missing"]["bleu"]


def test_the_judging_app_names_its_extra(tmp_path):
    ended = without("uvicorn", "human-eval", "serve", tmp_path)
    assert ended.stderr == "rlsum: the package uvicorn is not installed; run pip install 'rlsum[human]'\n"


def test_from_python_a_missing_package_is_one_error_without_those_that_led_to_it():
    code = (
        "import sys; sys.modules['nltk'] = None; import rewards; rewards.load('rouge-l')(['a storms'], [['a storms']])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.endswith("rouge-l: the package nltk is not installed; run pip install 'rlsum[lexical]'\n")
