"""The share of signal in gradients: known mixtures of a direction and noise, and a run of the script."""

import re
import sys

import measure_signal
import numpy as np
import pytest
import torch
from rows import jsonl


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_a_known_share_is_found(share):
    rng = np.random.default_rng(1)
    direction = rng.normal(size=2000)
    direction /= np.linalg.norm(direction)
    noise = rng.normal(size=(60, 2000)) / np.sqrt(2000)
    rows = np.sqrt(share) * direction + np.sqrt(1 - share) * noise
    cosine, error = measure_signal.share_of_signal(torch.from_numpy(rows))
    assert abs(cosine - share) < 4 * error + 1e-3
    assert error < 0.05


def test_equal_gradients_are_all_signal_and_zeros_are_none():
    assert measure_signal.share_of_signal(torch.ones(4, 3)) == pytest.approx((1.0, 0.0))
    assert measure_signal.share_of_signal(torch.zeros(4, 3)) == (0.0, 0.0)


def test_the_error_is_the_spread_of_repeated_measurements():
    rng, values, errors = np.random.default_rng(2), [], []
    for _ in range(200):
        rows = 0.3 + rng.normal(size=(12, 40))
        value, error = measure_signal.share_of_signal(torch.from_numpy(rows))
        values.append(value)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.35)


CONFIG = """
run: {run}
data: {{train: {train}, valid: {train}, max_source: 20, max_target: 10}}
model: {{embedding: 4, hidden: 4}}
objective: {{kind: mle}}
training: {{steps: 1, batch_size: 4, validate_decoded: 0, tracker: null}}
decoding: {{max_length: 10}}
"""


def test_the_script_measures_a_checkpoint(tmp_path, monkeypatch, capsys):
    from rlsum import config as configs
    from rlsum.training.build import trainer

    rows = [{"article": f"the crew of {name} left .", "highlights": f"{name} left ."} for name in "abcdefgh"]
    train, path, run = tmp_path / "train.jsonl", tmp_path / "config.yaml", tmp_path / "run"
    jsonl(train, *rows)
    path.write_text(CONFIG.format(train=train, run=run))
    trainer(configs.load(path)).fit()
    rewarded = ["model=null", "objective={kind: mixed, reward: rouge-l, samples: 2}", "training.validate_decoded=2"]
    command = ["measure_signal", str(path), "--init", str(run), *rewarded, "--updates", "4"]
    monkeypatch.setattr(sys, "argv", command)
    measure_signal.main()
    out = capsys.readouterr().out
    assert re.match(r"norms of gradients: reward 0\.\d+, likelihood 0\.\d+\n", out)
    parts = re.findall(r"^(\w+).* weights  share of signal +-?[\d.]+ \+- [\d.]+", out, re.MULTILINE)
    assert parts[0] == "all"
    assert {"embed", "encoder", "gate", "word_out"} <= set(parts)
    clipped = [*command[:-2], "objective.clip=0.2", *command[-2:]]
    shares = []
    for reused in ([], ["objective.updates_per_sample=2"]):  # whose samples would be of other articles
        monkeypatch.setattr(sys, "argv", [*clipped[:-2], *reused, *clipped[-2:]])
        measure_signal.main()
        shares.append(re.findall("share of signal.*", capsys.readouterr().out))
    assert shares[0] == shares[1]
    monkeypatch.setattr(sys, "argv", [part for part in command if part not in rewarded])
    with pytest.raises(SystemExit):
        measure_signal.main()
    assert "no reward to measure" in capsys.readouterr().err
