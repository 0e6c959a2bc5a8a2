"""What a run left on the disk: its logs and its weights."""

import json
from pathlib import Path

import torch

from rlsum.training import checkpoint
from rlsum.training.log.monitor import METRICS, SAMPLES, TRAINED
from rlsum.training.trainer import field_of


def log_of(run, name=METRICS):
    """A log without its times."""
    rows = [json.loads(line) for line in (run / name).read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in row.items() if not field_of(key).machine} for row in rows]


def weights_of(path):
    return checkpoint._read(path, "about" if path.name == checkpoint.WEIGHTS else "progress")


def assert_same_run(run, other):
    for name in (Path("best") / checkpoint.WEIGHTS, checkpoint.STATE):
        (tensors, about), (others, other_about) = weights_of(run / name), weights_of(other / name)
        assert tensors.keys() == others.keys()
        assert [key for key in tensors if not torch.equal(tensors[key], others[key])] == []
        assert about == other_about
    for name in (METRICS, SAMPLES, *([TRAINED] if (run / TRAINED).exists() or (other / TRAINED).exists() else [])):
        rows, expected = log_of(run, name), log_of(other, name)
        assert [{**row, "system": ""} for row in rows] == [{**row, "system": ""} for row in expected]


def states(folder):
    """The tensors of its state."""
    return checkpoint._read(folder / checkpoint.STATE, "progress")[0]


def assert_same_states(one, other):
    first, second = states(one), states(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], value) for name, value in second.items())
