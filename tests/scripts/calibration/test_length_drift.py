from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import tiny
import yaml

from rlsum import config as configs
from rlsum.objective import Normalisation
from rlsum.training import checkpoint

ROOT = Path(__file__).resolve().parents[3]


def weak(folder: Path) -> Path:
    """The run of a model that learnt nothing."""
    folder.mkdir()
    for split, count in {"train": 6, "valid": 2}.items():
        rows = [{"id": f"{split}-{n}", "article": tiny.PAIRS[n % 4][0], "highlights": "ash oak"} for n in range(count)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = {"train": str(folder / "train.jsonl"), "valid": str(folder / "valid.jsonl")}
    config = configs.check({**as_mapping(folder / "mle"), "data": data}, "test")
    model = tiny.copier()
    checkpoint.create(folder / "mle" / "best", config, model, {})
    checkpoint.save_weights(folder / "mle" / "best", model, {})
    return folder / "mle"


def as_mapping(run: Path) -> dict:
    values: dict = yaml.safe_load(configs.dump(tiny.config(run)))
    return values


def test_the_drift_of_length_has_a_line_for_each_normalisation(tmp_path):
    command = [sys.executable, "scripts/calibration/length_drift.py", str(weak(tmp_path / "weak")), "--updates=2"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head == ["normalisation", "weak", "mean"]
    assert [row[0] for row in rows] == list(get_args(Normalisation))
    for _, before, arrow, after, mean in rows:
        assert (arrow, float(before)) == (">", float(rows[0][1]))
        assert float(mean) == pytest.approx(float(after) - float(before), abs=0.11)
