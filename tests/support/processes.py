"""Train runs as one process or as several, without a launcher: ``python processes.py COUNT:CONFIG.yaml...``.

The processes are forks, so that torch is imported once; they talk through gloo, as `torchrun` would have them do. A run
that has a state is resumed. ``KILL=rank:update`` in the environment ends a process (SIGKILL) at the start of an update.
Prints how each process of each run ended, ``rank status``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import accelerate  # noqa: F401
import transformers  # noqa: F401

from rlsum import build, checkpoint
from rlsum import config as configs
from rlsum.trainer import Trainer


def set_trap(rank: int) -> None:
    """Arrange for this process to be killed where the environment says so."""
    doomed, number = (int(part) for part in os.environ.get("KILL", "-1:0").split(":"))
    update = Trainer._update

    def fatal(trainer: Trainer) -> None:
        if rank == doomed and trainer.progress.step == number:
            os.kill(os.getpid(), signal.SIGKILL)
        update(trainer)

    Trainer._update = fatal


def work(rank: int, count: int, port: int, path: str) -> int:
    """What one process does; returns its exit status."""
    os.environ["ACCELERATE_USE_CPU"] = "true"
    if count > 1:
        names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in names.items()}, MASTER_ADDR="127.0.0.1")
    set_trap(rank)
    config = configs.load(path)
    build.trainer(config, resume=(Path(config.run) / checkpoint.STATE).exists()).fit()
    return 0


def train(count: int, path: str) -> None:
    """A run in ``count`` processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children = []
    for rank in range(count):
        children.append(os.fork())
        if children[-1] == 0:
            status = 1
            try:
                status = work(rank, count, port, path)
            except Exception as error:
                print(f"rank {rank}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(status)
    for rank, child in enumerate(children):
        print(rank, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for argument in sys.argv[1:]:
        number, _, config_path = argument.partition(":")
        train(int(number), config_path)
