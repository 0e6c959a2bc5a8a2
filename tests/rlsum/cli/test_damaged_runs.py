"""Damaged run folders: `generate`, `train --init` and `train --resume` name the file before anything long starts."""

from __future__ import annotations

import shutil

import damaged
import pytest
import tiny
from click.testing import CliRunner
from rows import jsonl
from typer.main import get_command

from rlsum.cli.app import app

pytestmark = pytest.mark.usefixtures("own_module_cache")

COMMAND = get_command(app)
CONFIG = """
data: {train: train.jsonl, valid: valid.jsonl}
model: {embedding: 6, hidden: 8}
training: {steps: 2, batch_size: 4, validate_every: 1, log_every: 1, tracker: null}
decoding: {max_length: 4}
metrics: [repetition]
"""
KL = "{kind: mixed, estimator: grpo, samples: 2, kl: 0.1, reward: length(high=9)}"
COMMANDS = {
    "generate": ["generate", "run", "valid.jsonl", "-o", "new/outputs.jsonl"],
    "init": ["train", "config.yaml", "run=new", "--init", "run", "model=null"],
    "resume": ["train", "--resume", "run", "training.steps=3"],
}
READ = {
    "generate": ("best/config.yaml", "best/vocab.txt", "best/model.safetensors"),
    "init": ("best/config.yaml", "best/vocab.txt", "best/model.safetensors"),
    "resume": (
        *("config.yaml", "environment.json", "state.safetensors", "start.safetensors", "metrics.jsonl"),
        *("samples.jsonl", "best/vocab.txt", "best/rewards.json"),
    ),
}
WRONG = {"null": b"null\n", "list": b"[]\n", "object": b"{}\n"}
KEPT = ("metrics.jsonl", "samples.jsonl")  # may be empty or missing


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """A folder with a run, its configuration and its corpus."""
    folder = tmp_path_factory.mktemp("origin")
    for name, count, first in (("train", 10, 0), ("valid", 4, 100)):
        rows = [{"id": str(n), "article": s, "highlights": t} for n, (s, t) in enumerate(tiny.stories(count, first))]
        jsonl(folder / f"{name}.jsonl", *rows)
    (folder / "config.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(COMMAND, ["train", "config.yaml", "run=run", f"objective={KL}"])
    assert result.exit_code == 0, result.exception
    return folder


@pytest.fixture
def folder(origin, tmp_path, monkeypatch):
    copy = shutil.copytree(origin, tmp_path / "copy")
    monkeypatch.chdir(copy)
    return copy


CASES = [(command, file) for command, files in READ.items() for file in files]


def checked(folder, command, file, damage) -> str:
    """The message about a damaged file; fails for a traceback, more than the message and anything written."""
    path = folder / "run" / file
    content = path.read_bytes()
    damaged.remove(path)
    damage(path, content)
    before = set(folder.rglob("*"))
    result = CliRunner().invoke(COMMAND, COMMANDS[command])
    message = damaged.message(result)
    if message:
        new = {str(each.relative_to(folder)) for each in folder.rglob("*") if each not in before and each.is_file()}
        assert new <= {"new/.lock", "run/.lock"}, message
    return message


@pytest.mark.parametrize("kind", ["empty", "cut", "high", "utf-16", "zipped and cut", "null", "list", "object"])
@pytest.mark.parametrize(("command", "file"), CASES)
def test_a_damaged_file_of_a_run_is_named(folder, command, file, kind):
    def damage(path, content):
        path.write_bytes(WRONG[kind] if kind in WRONG else damaged.damaged_bytes(content, kind, 0.6))

    message = checked(folder, command, file, damage)
    name = file.rpartition("/")[2]
    if name in KEPT and kind in ("empty", "cut", "zipped and cut"):
        assert message == "" or name in message  # a last line that a kill cut short is dropped
    elif kind == "object" and "json" in name and name not in KEPT:
        assert "run" in message  # of an earlier version
    elif kind == "cut" and name == "config.yaml":
        # half of it is YAML, too: it lacks keys, and does not fit the weights or what the run depended on
        assert message == "" or any(words in message for words in ("config.yaml", "does not fit", "has changed"))
    elif kind == "utf-16" and name in ("environment.json", "rewards.json"):
        assert message == ""  # JSON is read in every encoding that its first bytes show
    elif name == "start.safetensors":
        assert "the start, which the KL penalty measures from" in message
    else:
        assert name in message


@pytest.mark.parametrize("kind", damaged.NO_FILES)
@pytest.mark.parametrize(("command", "file"), CASES)
def test_what_is_no_file_is_named(folder, command, file, kind):
    with damaged.within(60):
        message = checked(folder, command, file, lambda path, content: damaged.no_file(path, kind))
    name = file.rpartition("/")[2]
    assert name in message or (name in KEPT and kind == "missing")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"fir\t" + b"7" * 5_000, "vocab.txt:7: expected word<TAB>count"),
        (b"elm\t3\nelm\t2", "vocab.txt:8: 'elm' is there twice"),
        (b"fir", "vocab.txt:7: expected word<TAB>count, found 'fir'"),
    ],
)
def test_a_damaged_line_of_a_vocabulary_is_named(folder, line, expected):
    def damage(path, content):
        path.write_bytes(b"\n".join([*content.split(b"\n")[:6], line, b""]))

    assert expected in checked(folder, "generate", "best/vocab.txt", damage)


def test_a_damaged_note_of_a_stopped_job_is_named(folder):
    (folder / "new").mkdir()
    (folder / "new" / "outputs.jsonl.partial").write_bytes(b"{}\n")
    (folder / "new" / "outputs.jsonl.partial.json").write_bytes(b"{")
    message = damaged.message(CliRunner().invoke(COMMAND, COMMANDS["generate"]))
    assert "outputs.jsonl.partial.json: not JSON; remove it" in message
