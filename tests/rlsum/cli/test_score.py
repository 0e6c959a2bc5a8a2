from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import rewards
from rlsum.cli import main
from rlsum.evaluation.streaming import CHUNK
from rlsum.records import read_outputs

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CANDIDATES = ["the cat sleeps", "", "a dog runs in the garden", "river"]
FIRST, SECOND = ["the cat", "a dog", "the dog runs", ""], ["a cat sleeps", "", "rain", ""]


@pytest.fixture
def rlsum(monkeypatch, capsys, tmp_path):
    """Run a command in a folder of text files: (exit code, standard output, standard error)."""
    for name, texts in (("c.txt", CANDIDATES), ("r.txt", FIRST), ("r2.txt", SECOND), ("short.txt", FIRST[:2])):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts))
    rows = zip(CANDIDATES, FIRST, strict=True)
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"candidate": c, "reference": r}) + "\n" for c, r in rows))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rlsum", "score", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "110")
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def scores_in(path: str, label: str) -> list[float]:
    return [float("nan") if o.scores[label] is None else o.scores[label] for o in read_outputs(path)]


BOTH = ("--references", "r.txt", "r2.txt"), ("--references", "r.txt", "--references", "r2.txt")


@pytest.mark.parametrize("spelling", BOTH)
def test_text_files_with_several_references(rlsum, spelling):
    code, printed, _ = rlsum("--candidates", "c.txt", *spelling, "-o", "s.jsonl", "--metrics", "rouge-1, rouge-l")
    assert code == 0
    expected = rewards.load("rouge-1")(CANDIDATES, [list(pair) for pair in zip(FIRST, SECOND, strict=True)])
    np.testing.assert_array_equal(scores_in("s.jsonl", "rouge-1"), expected)
    assert f"{100 * np.nanmean(expected):.2f}" in printed
    assert "(1 undefined)" in printed
    assert "rouge-1|direction:f1" in printed
    assert read_outputs("s.jsonl")[0].system == "c.txt"


def test_a_table_alone_writes_nothing(rlsum, tmp_path):
    before = sorted(tmp_path.iterdir())
    code, printed, _ = rlsum("--input", "p.jsonl", "--metrics", "rouge-1")
    assert code == 0
    assert "bootstrap interval" in printed
    assert sorted(tmp_path.iterdir()) == before


def test_pairs_keep_what_they_hold_and_say_why(rlsum, tmp_path):
    assert rlsum("--input", "p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert rows[0] == {"candidate": CANDIDATES[0], "reference": FIRST[0], "scores": {"rouge-1": 0.8}, "undefined": {}}
    assert rows[3]["scores"] == {"rouge-1": None}
    assert rows[3]["undefined"] == {"rouge-1": "its reference is empty"}


def test_several_processes_give_the_same_file(rlsum, tmp_path):
    rows = [{"candidate": f"cat {n % 50} dog", "reference": f"the cat {n % 70}", "n": n} for n in range(3 * CHUNK + 5)]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for workers in (1, 2):
        options = ("-o", f"{workers}.jsonl", "--metrics", "rouge-1", "--workers", workers)
        assert rlsum("--input", "many.jsonl", *options)[0] == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    written = [json.loads(line) for line in (tmp_path / "2.jsonl").read_text().splitlines()]
    assert [row["n"] for row in written] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to score"),
        (["p.jsonl", "c.txt"], "several files"),
        (["--candidates", "c.txt"], "belong together"),
        (["--references", "r.txt"], "belong together"),
        (["--input", "p.jsonl", "--candidates", "c.txt"], "exclude each other"),
        (["--candidates", "c.txt", "--references", "short.txt"], "c.txt has 4 lines but short.txt has 2"),
        (["--input", "c.txt"], "c.txt:1: not JSON"),
        (["--input", "p.jsonl", "--metrics", "rogue-1"], "did you mean 'rouge-1'"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(rlsum, arguments, words):
    code, printed, error = rlsum(*arguments)
    assert (code, printed, len(error.splitlines())) == (2, "", 1)
    assert words in error


def command(folder: Path, out: str, *options: str) -> subprocess.Popen:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "support")))
    arguments = ["score", "--input", "many.jsonl", "--metrics", "slow:slow", "-o", out, "--resamples", "10"]
    return subprocess.Popen(
        [sys.executable, "-m", "rlsum", *arguments, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_again_and_again_nothing_is_lost_or_twice(tmp_path, workers):
    rows = [{"candidate": f"cat {n}", "reference": f"the cat {n % 70}"} for n in range(7 * CHUNK + 100)]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    growing = tmp_path / "killed.jsonl.scoring"
    for chunks in (1, 3, 4):
        process = command(tmp_path, "killed.jsonl", "--workers", workers)
        while not growing.exists() or growing.read_bytes().count(b"\n") < chunks * CHUNK:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with growing.open("ab") as file:  # what a kill in the middle of a write leaves
            file.write(b'{"candidate": "c')
    last = command(tmp_path, "killed.jsonl", "--workers", workers)
    printed, told = last.communicate()
    assert last.returncode == 0, told
    assert "rows are there; going on" in told
    whole = command(tmp_path, "whole.jsonl")
    assert printed.replace("killed", "whole") == whole.communicate()[0]
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len((tmp_path / "killed.jsonl").read_text().splitlines()) == len(rows)
    assert sorted(path.name for path in tmp_path.glob("*.jsonl*")) == ["killed.jsonl", "many.jsonl", "whole.jsonl"]


def test_going_on_with_other_metrics_or_texts_is_refused(rlsum, tmp_path):
    (tmp_path / "s.jsonl.scoring").write_text("")
    made_of = {"signatures": {"rouge-1": "another"}, "input": "?", "rows": 4}
    (tmp_path / "s.jsonl.scoring.json").write_text(json.dumps(made_of))
    code, _, error = rlsum("--input", "p.jsonl", "-o", "s.jsonl", "--metrics", "rouge-1")
    assert code == 2
    assert "other signatures and input; remove s.jsonl.scoring" in error
