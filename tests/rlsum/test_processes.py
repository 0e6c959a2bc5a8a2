"""Several processes train what one process trains with the larger batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pretrained
import pytest
import tiny
import torch
import yaml

from rlsum import checkpoint

SUPPORT = Path(__file__).parent.parent / "support"
MIXED = {"kind": "mixed", "reward": "rouge-1", "gamma": 0.6, "samples": 2}


def train(*runs, **environment):
    """Train configurations, each (processes, path); returns how each process ended, and what they said."""
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "processes.py"), *(f"{count}:{path}" for count, path in runs)],
        env={**os.environ, "PYTHONPATH": str(SUPPORT.parent.parent), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()], done.stderr


def articles(path, pairs):
    rows = [{"id": str(i), "article": source, "highlights": text} for i, (source, text) in enumerate(pairs)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with articles, so many that an epoch ends in a batch of 3 and in one of 1."""
    folder = tmp_path_factory.mktemp("processes")
    articles(folder / "eleven.jsonl", tiny.stories(11))
    articles(folder / "nine.jsonl", tiny.stories(9))
    articles(folder / "valid.jsonl", tiny.stories(7, first=100))
    return folder


def written(place, name, count, *, data="eleven", model=None, objective=None, **training):
    """The path of a configuration for ``count`` processes that together take 4 articles an update."""
    values = {
        "run": str(place / f"{name}-{count}"),
        "data": {"train": str(place / f"{data}.jsonl"), "valid": str(place / "valid.jsonl")},
        "model": {"embedding": 6, "hidden": 8} if model is None else model,
        "objective": objective or {"kind": "mle"},
        "training": {"steps": 6, "batch_size": 4 // count, "learning_rate": 1e-3, "validate_every": 3, "log_every": 1,
                     "tracker": None, "sample_outputs": 7, **training},
        "decoding": {"max_length": 6},
        "metrics": ["rouge-l"],
    }  # fmt: skip
    path = place / f"{name}-{count}.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def log_of(run, name="metrics.jsonl"):
    rows = [json.loads(line) for line in (run / name).read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key not in ("tokens_per_second", "system")} for row in rows]


def assert_equal(place, name, atol=1e-5):
    """The runs of one process and of two have the same curves, outputs and weights."""
    one, two = place / f"{name}-1", place / f"{name}-2"
    for row, other in zip(log_of(one), log_of(two), strict=True):
        assert row.keys() == other.keys()
        for key, value in row.items():
            wanted = value if value is None or isinstance(value, str) else pytest.approx(value, rel=1e-4, abs=atol)
            assert other[key] == wanted, f"{name}, {key} of update {row['step']}"
    assert log_of(one, "samples.jsonl") == log_of(two, "samples.jsonl")
    weights, others = (checkpoint._read(run / checkpoint.STATE, "progress")[0] for run in (one, two))
    start = checkpoint._read(one / "best" / checkpoint.WEIGHTS, "about")[0]
    assert start.keys() <= {key.removeprefix("model.") for key in weights}
    for key in weights:
        torch.testing.assert_close(others[key], weights[key], atol=atol, rtol=1e-4, msg=f"{name}, {key}")


def test_two_processes_equal_one_with_the_double_batch(place):
    cases = {
        "mle": {},
        "mixed": {"data": "nine", "objective": MIXED, "row_noise": True},
    }
    runs = [(count, written(place, name, count, **options)) for name, options in cases.items() for count in (1, 2)]
    ended, told = train(*runs)
    assert ended == [(0, 0), (0, 0), (1, 0)] * 2, told
    for name in cases:
        assert_equal(place, name)
    rows = [row for row in log_of(place / "mixed-1") if row["kind"] == "train"]
    assert all(row["advantage_std"] > 0 for row in rows)
