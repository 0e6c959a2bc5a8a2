"""What a run left on the disk: its logs and its weights."""

from pathlib import Path

import pytest
import torch
from rows import rows_of

from rlsum.training import checkpoint
from rlsum.training.log.monitor import METRICS, SAMPLES, TRAINED
from rlsum.training.trainer import field_of


def log_of(run, kind=None, name=METRICS):
    """A log without its times and the name of the run, of one kind of lines or all."""
    rows = [row for row in rows_of(run / name) if kind in (None, row.get("kind"))]
    return [{key: row[key] for key in row if not field_of(key).machine and key != "system"} for row in rows]


def assert_near(rows, others, **tolerance):
    """Lines of two logs have the same numbers but for rounding."""
    for row, other in zip(rows, others, strict=True):
        assert row.keys() == other.keys()
        for key, value in row.items():
            wanted = pytest.approx(value, **tolerance) if isinstance(value, int | float) else value
            assert other[key] == wanted, f"{key} of update {row['step']}"


def weights_of(path):
    return checkpoint._read(path, "about" if path.name == checkpoint.WEIGHTS else "progress")


def assert_same_run(run, other):
    for name in (Path("best") / checkpoint.WEIGHTS, checkpoint.STATE):
        (tensors, about), (others, other_about) = weights_of(run / name), weights_of(other / name)
        torch.testing.assert_close(tensors, others, rtol=0, atol=0)
        assert about == other_about
    for name in (METRICS, SAMPLES, *([TRAINED] if (run / TRAINED).exists() or (other / TRAINED).exists() else [])):
        assert log_of(run, name=name) == log_of(other, name=name)


def states(folder):
    """The tensors of its state."""
    return weights_of(folder / checkpoint.STATE)[0]


def assert_same_states(one, other):
    torch.testing.assert_close(states(one), states(other), rtol=0, atol=0)
