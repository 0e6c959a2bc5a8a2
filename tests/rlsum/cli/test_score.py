from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from rows import jsonl, rows_of

import rewards
from rlsum import api
from rlsum.errors import UserError
from rlsum.records import read_outputs
from rlsum.scoring.processes import CHUNK, Scoring

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CANDIDATES = ["the cat sleeps", "", "a dog runs in the garden", "river"]
FIRST, SECOND = ["the cat", "a dog", "the dog runs", ""], ["a cat sleeps", "", "rain", ""]


@pytest.fixture
def rlsum(rlsum, monkeypatch, tmp_path):
    """Score in a folder of text files: (exit code, standard output, standard error)."""
    for name, texts in (("c.txt", CANDIDATES), ("r.txt", FIRST), ("r2.txt", SECOND), ("short.txt", FIRST[:2])):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts))
    jsonl(tmp_path / "p.jsonl", *pairs(CANDIDATES, FIRST))
    monkeypatch.chdir(tmp_path)
    return partial(rlsum, "score")


def pairs(candidates: Iterable[str], references: Iterable[str]) -> list[dict]:
    return [{"candidate": c, "reference": r} for c, r in zip(candidates, references, strict=True)]


def scores_in(path: str, label: str) -> list[float]:
    return [float("nan") if o.scores[label] is None else o.scores[label] for o in read_outputs(path)]


BOTH = ("--references", "r.txt", "r2.txt"), ("--references", "r.txt", "--references", "r2.txt")


@pytest.mark.parametrize("spelling", BOTH)
def test_text_files_with_several_references(ran, spelling):
    printed = ran("--candidates", "c.txt", *spelling, "-o", "s.jsonl", "--metrics", "rouge-1, rouge-l")
    expected = rewards.load("rouge-1")(CANDIDATES, [list(pair) for pair in zip(FIRST, SECOND, strict=True)])
    np.testing.assert_array_equal(scores_in("s.jsonl", "rouge-1"), expected)
    assert f"{100 * np.nanmean(expected):.2f}" in printed
    assert "(1 undefined)" in printed
    assert "rouge-1|d:f1" in printed
    assert read_outputs("s.jsonl")[0].system == "c.txt"


def test_a_table_alone_writes_nothing(ran, tmp_path):
    before = sorted(tmp_path.iterdir())
    printed = ran("--input", "p.jsonl", "--metrics", "rouge-1")
    assert "95% interval" in " ".join(printed.split())
    assert sorted(tmp_path.iterdir()) == before


def test_pairs_keep_what_they_hold_and_say_why(rlsum, tmp_path):
    assert rlsum("--input", "p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    rows = rows_of("s.jsonl")
    assert rows[0] == {"candidate": CANDIDATES[0], "reference": FIRST[0], "scores": {"rouge-1": 0.8}, "undefined": {}}
    assert rows[3]["scores"] == {"rouge-1": None}
    assert rows[3]["undefined"] == {"rouge-1": "its reference is empty"}


def test_dates_and_decimals_of_parquet_are_written_as_json_has_them(rlsum, tmp_path):
    texts = {"candidate": ["the cat"], "reference": ["a cat"]}
    when, cost = datetime(2024, 2, 29, 12), Decimal("1.50")
    parquet.write_table(
        pyarrow.table({**texts, "when": [when], "cost": [cost], "x": [b"y"], "sure": [np.nan]}),
        tmp_path / "t.parquet",
    )
    assert rlsum("t.parquet", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    (row,) = rows_of(tmp_path / "s.jsonl")
    assert (row["when"], row["cost"], row["x"], row["sure"]) == ("2024-02-29T12:00:00", 1.5, "b'y'", None)


def test_systems_may_be_numbers_and_missing(tmp_path):
    rows = [{"candidate": "a", "references": ["a"], **fields} for fields in ({"system": 0}, {"system": None}, {})]
    assert [*api.score(jsonl(tmp_path / "n.jsonl", *rows), metrics="rouge-1").by_system] == ["0", "candidates"]


def test_missing_cells_that_were_written_as_texts_are_counted(rlsum, tmp_path):
    jsonl(tmp_path / "n.jsonl", *pairs(("the cat", "None", "the cat", "a nan"), ("nan", "a dog", "nan", "the none")))
    for arguments in (["n.jsonl"], ["--candidates", "n.jsonl", "--references", "n.jsonl"]):
        told = rlsum(*arguments, "--metrics", "rouge-1")[2]
        assert "2 x the text 'nan'" in told
        assert "1 x the text 'None'" in told


def test_rows_of_one_id_are_told_beside_the_intervals(rlsum, tmp_path):
    for ids, told in ((("a", "b", "a", "b"), True), (range(4), False)):
        jsonl(tmp_path / "ids.jsonl", *({"id": n, **row} for n, row in zip(ids, pairs(CANDIDATES, FIRST), strict=True)))
        assert ("4 rows have 2 different ids" in rlsum("ids.jsonl", "--metrics", "rouge-1")[1]) == told


def test_a_metric_is_added_to_a_scored_file(rlsum):
    mine = {"reference": "a cat", "id": 7, "note": {"ü": [1, None]}, "scores": {"human": 3}, "undefined": {"x": "y"}}
    Path("mine.jsonl").write_text(json.dumps({"candidate": "the cat", **mine}) + "\n")
    assert rlsum("mine.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    assert rlsum("s.jsonl", "-o", "s.jsonl", "--overwrite", "--metrics", "rouge-3, rouge-l")[0] == 0
    assert rows_of("s.jsonl") == [
        {
            "candidate": "the cat",
            **mine,
            "scores": {"human": 3, "rouge-1": 0.5, "rouge-3": None, "rouge-l": 0.5},
            "undefined": {"x": "y", "rouge-3": "its reference has fewer than 3 tokens"},
        }
    ]
    signatures = {name: rewards.load(name).signature for name in ("rouge-1", "rouge-3", "rouge-l")}
    assert json.loads(Path("s.jsonl.signatures.json").read_text()) == signatures
    Path("mine.jsonl").write_text(json.dumps({**rows_of("s.jsonl")[0], "reference": "a cat purrs"}) + "\n")
    assert rlsum("mine.jsonl", "-o", "t.jsonl", "--overwrite", "--metrics", "rouge-3")[0] == 0
    assert rows_of("t.jsonl")[0]["undefined"] == {"x": "y"}, "a reason of an earlier scoring that no longer holds"


def test_scores_of_another_signature_are_replaced_only_when_asked(rlsum):
    assert rlsum("p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    again = ("s.jsonl", "-o", "t.jsonl", "--metrics")
    assert rlsum(*again, "rouge-1")[0] == 0, "the same scores"
    before = Path("s.jsonl").read_bytes()
    code, _, error = rlsum("s.jsonl", "-o", "u.jsonl", "--metrics", "rouge-1(stemmer=false)")
    assert (code, len(error.splitlines())) == (2, 1)
    assert "rows already have scores by rouge-1, with another signature" in error
    assert not Path("u.jsonl").exists()
    Path("s.jsonl.signatures.json").rename("lost.json")  # unknown is not the same
    assert rlsum("s.jsonl", "-o", "u.jsonl", "--metrics", "rouge-1")[0] == 2
    code, _, error = rlsum("s.jsonl", "-o", "u.jsonl", "--metrics", "rouge-1(stemmer=false)", "--overwrite")
    assert code == 0
    assert "they are replaced" in error
    assert "stemmer:no" in Path("u.jsonl.signatures.json").read_text()
    assert Path("s.jsonl").read_bytes() == before
    assert rlsum("s.jsonl", "-o", "v.jsonl", "--metrics", "rouge-1(stemmer=false), rouge-2")[0] == 2
    Path("lost.json").rename("s.jsonl.signatures.json")
    assert rlsum("s.jsonl", "-o", "v.jsonl", "--metrics", "rouge-1, rouge-1(stemmer=false)")[0] == 0, "kept apart"
    assert rows_of("v.jsonl")[0]["scores"].keys() == {"rouge-1", "rouge-1(stemmer=false)"}


def test_signatures_that_cannot_be_read_are_told(rlsum):
    assert rlsum("p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    for content in ("{", "[]", '{"rouge-1": 3}'):
        Path("s.jsonl.signatures.json").write_text(content)
        code, _, error = rlsum("s.jsonl", "-o", "t.jsonl", "--metrics", "rouge-2")
        assert (code, len(error.splitlines())) == (2, 1)
        assert "s.jsonl.signatures.json" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to score"),
        (["p.jsonl", "c.txt"], "several files"),
        (["--candidates", "c.txt"], "belong together"),
        (["--references", "r.txt"], "belong together"),
        (["--input", "p.jsonl", "--candidates", "c.txt"], "exclude each other"),
        (["--candidates", "c.txt", "--references", "short.txt"], "c.txt has 4 lines but short.txt has 2"),
        (["--input", "c.txt"], "c.txt: texts alone, one a line; give their references"),
        (["--input", "p.jsonl", "--metrics", "rogue-1"], "did you mean 'rouge-1'"),
        (["p.jsonl", "-o", "c.txt"], "--out c.txt: exists; add --overwrite"),
        (["p.jsonl", "-o", "/proc/s.jsonl"], "--out /proc/s.jsonl: cannot be written"),
        (["p.jsonl", "-o", "s.jsonl.gz"], "leave .gz out"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(rlsum, arguments, words):
    code, printed, error = rlsum(*arguments)
    *understood, told = error.splitlines()
    assert (code, printed) == (2, "")
    assert words in told
    assert all("rows; " in line or ", one a line" in line for line in understood)


def command(folder: Path, out: str, *options: str, metrics: str = "slow:slow", held: int = 0) -> subprocess.Popen:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "support")))
    arguments = ["score", "--input", "many.jsonl", "--metrics", metrics, "-o", out, "--resamples", "10"]
    return subprocess.Popen(
        [sys.executable, "-m", "rlsum", *arguments, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "HELD": str(held)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def children(process: subprocess.Popen) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def wait_for(process: subprocess.Popen, path: Path, lines: int) -> None:
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_again_and_again_nothing_is_lost_or_twice(tmp_path, workers):
    numbers = range(4 * CHUNK + 100)
    rows = pairs([f"cat {n}" for n in numbers], [f"the cat {n % 70}" for n in numbers])
    jsonl(tmp_path / "many.jsonl", *rows)
    growing = tmp_path / "killed.jsonl.scoring"
    for chunks in (1, 2):
        # However late the kill, it does not come to an end before.
        process = command(tmp_path, "killed.jsonl", "--workers", workers, held=(chunks + 1) * CHUNK)
        wait_for(process, growing, chunks * CHUNK)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with growing.open("ab") as file:  # what a kill in the middle of a write leaves
            file.write(b'{"candidate": "c')
    last = command(tmp_path, "killed.jsonl", "--workers", workers)
    printed, told = last.communicate()
    assert last.returncode == 0, told
    assert "rows are already scored; continuing" in told
    whole = command(tmp_path, "whole.jsonl")
    assert printed.replace("killed", "whole") == whole.communicate()[0]
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len((tmp_path / "killed.jsonl").read_text().splitlines()) == len(rows)
    recorded = [f"{name}.jsonl{end}" for name in ("killed", "whole") for end in ("", ".signatures.json")]
    assert {path.name for path in tmp_path.glob("*.jsonl*")} == {"many.jsonl", *recorded}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_all_processes_without_a_traceback(tmp_path, workers):
    (tmp_path / "many.jsonl").write_text('{"candidate": "c", "reference": "r"}\n' * 60 * CHUNK)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
    process = command(tmp_path, "s.jsonl", "--workers", workers)
    signal.signal(signal.SIGINT, before)
    wait_for(process, tmp_path / "s.jsonl.scoring", 2 * CHUNK)
    started = children(process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    _, told = process.communicate(timeout=600)
    assert (process.returncode, len(told.splitlines())) == (130, 1)  # what it read
    assert not [child for child in started if "spawn_main" in commandline(child)]
    assert not (tmp_path / "s.jsonl").exists()


def commandline(pid: int) -> str:
    path = Path(f"/proc/{pid}/cmdline")
    return path.read_text() if path.exists() else ""


def test_a_worker_that_dies_ends_the_scoring_with_a_word_and_no_loss(tmp_path):
    texts = [f"text {n}" for n in range(6 * CHUNK)]
    texts[3 * CHUNK] = f"die-once {tmp_path / 'died'}"
    jsonl(tmp_path / "many.jsonl", *pairs(texts, [""] * len(texts)))
    process = command(tmp_path, "s.jsonl", "--workers", "2", metrics="awkward:awkward")
    _, told = process.communicate(timeout=600)
    assert process.returncode == 2
    assert told.splitlines()[-1] == "rlsum: a scoring process was killed (out of memory?); try fewer --workers"
    _, told = command(tmp_path, "s.jsonl", "--workers", "2", metrics="awkward:awkward").communicate(timeout=600)
    assert [row["candidate"] for row in rows_of(tmp_path / "s.jsonl")] == texts
    assert f"{3 * CHUNK:,} of {6 * CHUNK:,} rows are already scored; continuing" in told


def test_a_worker_killed_while_it_sends_is_noticed():
    """A pipe that is half full: the standard library's pool of processes would wait for the rest for ever."""
    rows = [{"candidate": "c" * 100, "reference": "r"}] * (8 * CHUNK)
    with Scoring(partial(rewards.from_specs, "rouge-1"), 2) as scoring:
        scoring.signatures()
        worker = scoring.workers[0]
        worker.connection.send(rows)  # its answer does not fit into the pipe
        while not worker.connection.poll(0.1):
            pass
        worker.process.kill()
        with pytest.raises(UserError, match="was killed"):
            [*scoring.chunks([rows[:CHUNK]] * 9)]


def test_what_a_reward_raises_in_a_worker_is_told(tmp_path):
    (tmp_path / "many.jsonl").write_text('{"candidate": "raise this", "reference": ""}\n')
    process = command(tmp_path, "s.jsonl", "--workers", "2", metrics="awkward:awkward")
    _, told = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "KeyError: 'this'" in told


def test_going_on_with_other_metrics_or_texts_is_refused(rlsum, refused, tmp_path):
    (tmp_path / "s.jsonl.scoring").write_text("{}\n")
    made_of = {"signatures": {"rouge-1": "another"}, "input": "?", "rows": 4}
    (tmp_path / "s.jsonl.scoring.json").write_text(json.dumps(made_of))
    error = refused("--input", "p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")
    assert "s.jsonl.scoring: holds 1 lines of an earlier command, whose signatures, input differed" in error
    assert rlsum("--input", "p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1", "--overwrite")[0] == 0


def test_a_reward_that_reads_sources_says_why_a_row_is_undefined(ran, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "support")
    row = {"reference": "cat", "source": "the cat"}
    jsonl(tmp_path / "rows.jsonl", *({"candidate": text, **row} for text in ("the cat", "")))
    ran("rows.jsonl", "-o", "s.jsonl", "--metrics", "source_rewards:copied")
    assert [row["scores"] for row in rows_of("s.jsonl")] == [{"source_rewards:copied": value} for value in (1.0, None)]
    assert "NaN" in rows_of("s.jsonl")[1]["undefined"]["source_rewards:copied"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reward_reads_the_other_fields_of_the_rows(ran, tmp_path, monkeypatch, workers):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")]))
    row = {"reference": "cat", "topic": "cat", "year": 1}
    jsonl(tmp_path / "rows.jsonl", *({"candidate": text, **row} for text in ("the cat", "dog")))
    ran("rows.jsonl", "-o", "s.jsonl", "--metrics", "source_rewards:on_topic", "--workers", workers)
    found = rows_of("s.jsonl")
    assert [row["scores"] for row in found] == [{"source_rewards:on_topic": value} for value in (0.5, 0.0)]
    assert [row["year"] for row in found] == [1, 1]


@pytest.mark.parametrize(
    ("metric", "rows", "parts"),
    [
        ("source_rewards:on_topic", [{"topic": "a"}, {}], [":2", "'topic'", "source_rewards:on_topic"]),
        ("source_rewards:on_any_topic", [{}, {"topic": "a"}], [":2", "'topic'", "all or none"]),
    ],
)
def test_a_missing_field_is_named_before_anything_is_scored(refused, tmp_path, metric, rows, parts):
    jsonl(tmp_path / "rows.jsonl", *({"candidate": "a", "reference": "cat", **row} for row in rows))
    told = refused("rows.jsonl", "-o", "s.jsonl", "--metrics", metric)
    assert all(part in told for part in parts), told
    assert not (tmp_path / "s.jsonl.scoring").exists()


def test_text_files_have_no_columns(refused):
    told = refused("--candidates", "c.txt", "--references", "r.txt", "--metrics", "source_rewards:on_topic")
    assert "c.txt" in told
    assert "'topic'" in told


def test_a_shard_is_said_to_be_one_and_has_its_file_named(rlsum):
    jsonl(Path("many.jsonl"), *pairs(["a cat"] * (CHUNK + 3), ["a cat"] * (CHUNK + 3)))
    code, out, _ = rlsum("--input", "many.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1", "--shard", "2/2")
    assert code == 0
    assert "s.jsonl.2-of-2: 3 records scored, shard 2/2 alone" in out
    assert Path("s.jsonl.2-of-2").is_file()
