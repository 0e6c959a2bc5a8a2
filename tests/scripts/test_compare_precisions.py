"""The script that sets half precision beside float32."""

import json
import sys

import compare_precisions
import pytest
import torch

CONFIG = """
run: nowhere
data: {{train: {train}, valid: {train}, max_source: 20, max_target: 10}}
model: {{embedding: 4, hidden: 4}}
objective: {{kind: mle}}
training: {{steps: 1000, batch_size: 4, validate_every: 1000, tracker: null}}
"""


@pytest.fixture
def config(tmp_path):
    rows = [{"article": f"the crew of {name} left .", "highlights": f"{name} left ."} for name in "abcdefgh"]
    train = tmp_path / "train.jsonl"
    train.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG.format(train=train))
    return path


def test_a_row_is_the_pace_the_memory_and_the_last_losses(tmp_path):
    slow = {"tokens_per_second": 10.0, "updates_per_second": 0.1, "memory_gib": 0.5, "nll": 9.0}
    fast = {"tokens_per_second": 200.0, "updates_per_second": 2.0, "memory_gib": 1.5, "nll": 3.0}
    rows = [{"kind": "train", **slow}, *({"kind": "train", **fast} for _ in range(5)), {"kind": "valid", "nll": 4.0}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert compare_precisions.summary(tmp_path, 7200) == "200 | 1.50 | 1.00 | 3.0000 | 4.0000"


def test_runs_that_are_there_are_not_replaced(config, tmp_path, monkeypatch, capsys):
    (tmp_path / "out" / "bf16").mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", ["compare_precisions", str(config), "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit):
        compare_precisions.main()
    assert "has a run bf16 already" in capsys.readouterr().err


@pytest.mark.slow
def test_half_precision_learns_what_float32_does(config, tmp_path, monkeypatch, capsys):
    arguments = [str(config), "-o", str(tmp_path / "out"), "--updates", "20"]
    monkeypatch.setattr(sys, "argv", ["compare_precisions", *arguments])
    compare_precisions.main()
    cells = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    losses = {row[1].strip(): float(row[6]) for row in cells[2:] if row[6].strip()}
    assert losses["bf16"] == pytest.approx(losses["float32"], rel=0.01)
    assert ("fp16" in losses) == torch.cuda.is_available()
