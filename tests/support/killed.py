"""Start the same tiny run several times and have each one killed (SIGKILL) at its own bad moment.

``python killed.py FOLDER`` leaves FOLDER/<moment> behind for every moment. The runs are forks of one process, so that
torch is imported once. Whatever the moment, the resumed run must equal the uninterrupted one.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tiny

from rlsum.training import checkpoint
from rlsum.training.trainer import Trainer
from rlsum.training.validation import Choice

MOMENTS = (
    "writing-first-state",
    "writing-state",
    "writing-weights",
    "before-rename",
    "between-weights-and-state",
    "between-log-and-state",
    "in-update",
    "at-random-1",
    "at-random-2",
)


def trainer(run: Path, resume: bool = False) -> Trainer:
    """A run in which everything that could be forgotten matters: dropout, samples, schedules, accumulation."""
    config = tiny.config(
        run,
        "mixed",
        model={"dropout": 0.2, "coverage": True},
        objective={"gamma": 0.5, "gamma_end": 0.9, "samples": 2},
        steps=8,
        accumulate=2,
        validate_every=2,
        log_every=3,
        warmup=3,
        schedule="linear",
    )
    built = tiny.trainer(config, resume=resume)

    class Latest(Choice):
        """Every validation has a new best."""

        def __call__(self, values: Mapping[str, float]) -> float:
            return float(built.progress.step)

    built.choice = Latest("reward")
    return built


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def set_trap(moment: str) -> None:
    """Arrange for this process to be killed at a moment."""
    write, update = checkpoint.write_atomically, Trainer.update
    written: list[str] = []

    def trapped(path: Path, content: bytes) -> None:
        written.append(path.name)
        turn = written.count(path.name)
        if (moment, path.name, turn) in (
            ("writing-first-state", checkpoint.STATE, 1),
            ("writing-state", checkpoint.STATE, 3),
            ("writing-weights", checkpoint.WEIGHTS, 2),
        ):
            partial = path.with_name(path.name + ".partial")
            partial.write_bytes(content[: len(content) // 2])
            die()
        if (moment, path.name, turn) == ("before-rename", checkpoint.STATE, 2):
            Path.replace = lambda *_: die()
        if (moment, path.name, turn) == ("between-log-and-state", checkpoint.STATE, 2):
            die()
        write(path, content)
        if (moment, path.name, turn) == ("between-weights-and-state", checkpoint.WEIGHTS, 2):
            die()

    def fatal_update(trainer: Trainer) -> None:
        if trainer.progress.step == 5:
            trainer.optimizer.step = lambda *_: die()
        update(trainer)

    checkpoint.write_atomically = trapped
    if moment == "in-update":
        Trainer.update = fatal_update
    if moment.startswith("at-random"):
        threading.Timer(random.uniform(0.0, 2.0), die).start()


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    trainer(folder / "warm").measure()  # what is imported late is imported once
    for moment in MOMENTS:
        child = os.fork()
        if child == 0:
            try:
                set_trap(moment)
                trainer(folder / moment).fit()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        print(moment, "killed" if os.WIFSIGNALED(status) else "finished", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
