"""Damaged files and every command that reads: one clear line with file and line, nothing half-written, no traceback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import damaged
import pytest
from click.testing import CliRunner
from damaged import KINDS, NO_FILES, damaged_bytes, deep
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from studies import outputs
from typer.main import get_command

from rlsum.cli.app import app
from rlsum.judgments import public
from rlsum.records import to_json, write_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")

ROWS = 5  # of a file; the damaged one is any of them
SCORES = {"overall": 0.5}
RECORD = {"id": "1", "source": "a b", "references": ["a"], "candidate": "a b c", "system": "s"}
JUDGMENT = {**RECORD, "scores": SCORES}
EXAMPLE = {"text": "a b c d e", "score": 1}
CORPUS = {"id": "1", "article": "a b", "highlights": "a", "reference": "a", "text": "b"}
COMMAND = get_command(app)  # made once: it takes longer than most of what it runs
ANSWERS = {"study": "s", "task": "t", "judge": "j", "answers": {}}
CHEAP = "length(high=9)"
INSPECT = "data inspect {file} --source-column article --reference-column highlights --language en"
EXPORT = "human-eval export {copy} --to csv -o {to}/sheets"


def numbered(row: dict) -> list[bytes]:
    """Rows with ids 0, 1, ..., as lines."""
    return [json.dumps({**row, "id": str(n)} if "id" in row else row).encode() for n in range(ROWS)]


@dataclass(frozen=True)
class Reading:
    """A command that reads a file, the ``lines`` of a good one, and whether one broken row ends the command."""

    lines: list[bytes]
    command: str  # with the places of ``arguments``
    strict: bool = True
    ending: str = ".jsonl"
    file: str = ""  # the file's name where the command has its own for it

    @property
    def named(self) -> str:
        return self.file or f"bad{self.ending}"


def judged_study(folder: Path) -> Path:
    """A study, built once, beside ``folder``."""
    study = folder.parent / "study"
    if not study.exists():
        write_outputs(folder.parent / "study.jsonl", outputs(6, 2))
        size = ["--items", 4, "--booklet", 4, "--seed", 1]
        build = ["human-eval", "build", folder.parent / "study.jsonl", "-o", study, *size]
        assert CliRunner().invoke(COMMAND, [*map(str, build)]).exit_code == 0
    return study


def study_with(file: Path, name: str, folder: Path) -> Path:
    """A copy of the study where ``file`` is the one called ``name``."""
    copy = shutil.copytree(judged_study(folder), folder.parent / "copy", dirs_exist_ok=True)
    (copy / "judging.sqlite").unlink(missing_ok=True)
    shutil.copy(file, copy / name)
    return copy


def frank_with(file: Path) -> Path:
    """A folder of FRANK's two files, ``file`` the one of texts."""
    folder = file.parent.parent / "frank"
    folder.mkdir(exist_ok=True)
    (folder / "human_annotations.json").write_text("[]", encoding="utf-8")
    shutil.copy(file, folder / "benchmark_data.json")
    return folder


def tiny_run(folder: Path) -> Path:
    """A run with a tiny model, made once, beside ``folder``."""
    import tiny

    run = folder.parent / "run"
    return run if run.exists() else tiny.save_copier(run, max_length=3)


def tiny_metric(folder: Path) -> str:
    """A contextual metric whose encoder is made once, beside ``folder``."""
    from encoders import save_tiny

    encoder = folder.parent / "encoder"
    return f"sbert(encoder={encoder if encoder.exists() else save_tiny(encoder)})"


READERS = {
    "score": Reading(numbered(RECORD), f"score {{file}} -o {{to}}/o.jsonl --metrics {CHEAP}"),
    "score, again": Reading(numbered(JUDGMENT), "score --input {file} --metrics repetition"),
    "score, examples": Reading(
        numbered(EXAMPLE),
        "score {folder}/good.jsonl -o {to}/o.jsonl --metrics bleu-neighbors(examples={file},a=1)",
    ),
    "evaluate": Reading(numbered(RECORD), f"evaluate {{file}} --metrics {CHEAP} --resamples 5"),
    "correlate": Reading(
        numbered(JUDGMENT), f"correlate {{file}} --no-cache --metrics {CHEAP} -o {{to}}/r --resamples 5"
    ),
    "explain": Reading(numbered(RECORD), "explain {file} --id 2 --metrics wms(vectors={folder}/v.txt) -o {to}/p.json"),
    "generate": Reading(numbered(CORPUS), "generate {run} {file} -o {to}/o.jsonl --limit 2", strict=False),
    "fit-metric": Reading(numbered(JUDGMENT), "fit-metric {file} --metric {metric} -o {to}/metric"),
    "human-eval export, items": Reading(
        [json.dumps({"item": f"item-{n}", "article": "a b"}).encode() for n in range(ROWS)],
        EXPORT,
        file="items.jsonl",
    ),
    "human-eval export, tasks": Reading(
        numbered({"task": "t", "item": "i", "id": "1"}), EXPORT, strict=False, file="tasks.jsonl"
    ),
    "data inspect": Reading(numbered(CORPUS), INSPECT, strict=False),
    "data outputs": Reading(numbered(CORPUS), "data outputs {file} -o {to}/o.jsonl --candidate text"),
    "data judgments": Reading(numbered(JUDGMENT), "data judgments {file} -o {to}/j.jsonl"),
    "human-eval build": Reading(
        [to_json(row).encode() for row in outputs(6, 2)],
        "human-eval build {file} -o {to}/study --items 4 --booklet 4 --seed 1",
    ),
    "human-eval collect": Reading(numbered(ANSWERS), "human-eval collect {study} {file} -o {to}/c.jsonl", strict=False),
    "human-eval analyse": Reading(numbered(ANSWERS), "human-eval analyse {study} {file} -o {to}/verdict", strict=False),
}
TEXTS = {
    "score, texts": Reading(
        [b"a b"] * ROWS,
        f"score --candidates {{file}} --references {{file}} -o {{to}}/o.jsonl --metrics {CHEAP}",
        ending=".txt",
    ),
    "baseline": Reading(
        [b"cat dog", b"dog cat", b"cat"], "baseline {metric} --texts {file} -o {to}/b.json --pairs 2", ending=".txt"
    ),
    "explain, vectors": Reading(
        [b"cat 1 2", b"dog 2 1"], "explain cat dog --metrics wms(vectors={file}) -o {to}/p.json", ending=".txt"
    ),
    "human-eval export": Reading([b'{"format": 1, "study": "s",', b'"title": "a b"}'], EXPORT, file="study.json"),
    # The key is of another study: the app never begins to serve.
    "human-eval serve": Reading(
        [b'{"study": "s", "seed": 1,', b'"tasks": {"a b": {}}}'],
        "human-eval serve {study} --key {file} --database {to}/d.sqlite",
        ending=".json",
    ),
    "train": Reading([b"run: x", b"data: {}"], "train {file}", ending=".yaml"),
    "human-eval build, criteria": Reading(
        [b"- id: a", b"  question: b"],
        "human-eval build {folder}/systems.jsonl -o {to}/s --criteria {file} --seed 1",
        ending=".yaml",
    ),
    "human-eval plan": Reading(
        [b"scenario,ties", b"a,0.1"],
        "human-eval plan -o {to}/plan.json --assumptions {file} --draws 100",
        ending=".csv",
    ),
    "data inspect, csv": Reading([b"article,highlights", b"a b,a"], INSPECT, False, ".csv"),
    **{
        name: Reading([b"a\tb\tc", b"1\t2\t3"], f"data judgments {name} {{file}} -o {{to}}/j.jsonl", ending=".tsv")
        for name in public.READERS
        if name not in (public.HUB, "frank")
    },
    "frank": Reading(
        [json.dumps(dict.fromkeys(("hash", "model_name", "summary", "reference", "article"), "a")).encode()] * ROWS,
        "data judgments frank {frank} -o {to}/j.jsonl",
        file="frank",  # the folder
    ),
}


def blank(line: bytes) -> bool:
    """Whether a reader skips the line, as the first of a file or another."""
    return not line.decode("utf-8-sig", errors="replace").strip()


BROKEN_LINES = st.one_of(
    st.sampled_from(
        [
            *(b"{", b"[]", b"1", b"null", b'"text"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{", b"{}{}", b"'a'", b"\xe9"),
            *(b'{"id": NaN}', b'{"id": 1e999}', b'{"id": true}', b'{"id": {}}', b'{"id": "\\ud800"}'),
        ]
    ),
    st.integers(1, 60_000).map(deep),
    st.integers(4_301, 9_000).map(lambda digits: b'{"id": ' + b"7" * digits + b"}"),
    st.binary(min_size=1, max_size=30).filter(lambda line: b"\n" not in line and not blank(line)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "good.jsonl").write_bytes(b"\n".join(numbered(RECORD)))
    (folder / "v.txt").write_bytes(b"a 1 2\nb 2 1\nc 1 1\n")
    write_outputs(folder / "systems.jsonl", outputs(6, 2))
    return folder


class Places(dict):
    """What is made where a command asks for it."""

    def __getitem__(self, name: str) -> object:
        return super().__getitem__(name)()


def arguments(reading: Reading, file: Path, to: Path) -> list[str]:
    """The words of a command that reads ``file`` and writes into ``to``."""
    places = Places(
        file=lambda: file,
        to=lambda: to,
        folder=lambda: file.parent,
        run=lambda: tiny_run(to),
        metric=lambda: tiny_metric(to),
        study=lambda: judged_study(to),
        copy=lambda: study_with(file, reading.file, to),
        frank=lambda: frank_with(file),
    )
    return [word.format_map(places) for word in reading.command.split()]


def run(reading: Reading, folder: Path, damage: Callable[[Path], object]) -> str:
    """The message of a command about a file; "" where it succeeds. Fails for a traceback and for anything written."""
    path, to = folder / f"bad{reading.ending}", folder / "written"
    damaged.remove(path)
    damage(path)
    to.mkdir(exist_ok=True)
    result = CliRunner().invoke(COMMAND, arguments(reading, path, to))
    left = sorted(str(each.relative_to(to)) for each in to.rglob("*") if each.is_file())
    shutil.rmtree(to)
    message = damaged.message(result)
    assert not message or left == [], message
    return message


def run_on(reading: Reading, folder: Path, content: bytes) -> str:
    return run(reading, folder, lambda path: path.write_bytes(content))


@settings(max_examples=25)
@pytest.mark.parametrize("name", [name for name, reading in READERS.items() if reading.strict])
@given(line=BROKEN_LINES, row=st.integers(1, ROWS))
@example(line=deep(3_000), row=2)
@example(line=b'{"id": ' + b"7" * 5_000 + b"}", row=3)
@example(line=b'{"id": "\\ud800"}', row=4)
def test_a_broken_line_is_named(folder, name, line, row):
    assume(row > 1 or not line.lstrip().startswith((b"[", b"\x1f\x8b")))  # the file is taken for a list, or for gzip
    lines = READERS[name].lines
    message = run_on(READERS[name], folder, b"\n".join([*lines[: row - 1], line, *lines[row:]]))
    file = READERS[name].named
    assert f"{file}:{row}" in message or f"{file}, line {row}" in message
    assert "\n" not in message.strip()


@settings(max_examples=12)
@pytest.mark.parametrize("name", [*READERS, *TEXTS])
@given(kind=st.sampled_from(KINDS), place=st.floats(0, 1))
def test_a_damaged_file_ends_in_one_line_or_is_read(folder, name, kind, place):
    reading = {**READERS, **TEXTS}[name]
    message = run_on(reading, folder, damaged_bytes(b"\n".join(reading.lines) + b"\n", kind, place))
    # Other damage may lie within a text, or between lines: then a command may refuse what the rows say, not the file.
    broken = kind in ("empty", "blank", "high") or "zip" in kind
    assert not message or not broken or reading.named in message
    assert "Traceback" not in message


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", [name for name, reading in (READERS | TEXTS).items() if not reading.file])
def test_what_is_no_file_ends_in_one_line(folder, name, kind):
    reading = {**READERS, **TEXTS}[name]
    with damaged.within(60):
        message = run(reading, folder, lambda path: damaged.no_file(path, kind))
    assert reading.named in message
    assert "\n" not in message.strip()


@pytest.mark.parametrize(
    "command", [["score", "-o", "{}/o.jsonl"], ["evaluate"], ["data", "outputs", "-o", "{}/o.jsonl"]]
)
def test_a_row_of_a_table_that_is_not_utf8_is_named(folder, tmp_path, command):
    (folder / "bad.csv").write_bytes(b"id,candidate,reference\n1,a,b\n2,\xe9,b\n")
    metrics = [] if "data" in command else ["--metrics", "rouge-1"]
    column = ["--candidate", "candidate"] if "data" in command else []
    written = [part.format(tmp_path) for part in command]
    result = CliRunner().invoke(COMMAND, [*written, str(folder / "bad.csv"), *metrics, *column])
    assert "bad.csv:3: not UTF-8" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [name for name, reading in READERS.items() if not reading.file])
def test_a_file_without_rows_is_refused(folder, name):
    assert "bad.jsonl" in run_on(READERS[name], folder, b"\n")
