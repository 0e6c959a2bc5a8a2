"""Run `rlsum` commands in one process or in several, without a launcher: ``python processes.py '[{...}, ...]'``.

A job has the arguments of a command and the ``count`` of its processes, which talk through gloo, as `torchrun` would
have them do. They are forks, so that all libraries are imported once. ``kill: [rank, place, turn]`` ends one process
(SIGKILL) where it comes to a place for the turn-th time. Prints a line a job: how each process ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import accelerate  # noqa: F401
import datasets  # noqa: F401
import nltk  # noqa: F401  # ROUGE stems with it
import scipy.io
import scipy.stats  # noqa: F401
import torch._dynamo  # the first optimiser imports it
from ports import free_port

from rlsum import cli
from rlsum.cli import app  # noqa: F401
from rlsum.generation import outputs as generation
from rlsum.training import build, trainer  # noqa: F401
from rlsum.training.parallel import launch
from rlsum.training.trainer import Trainer

PLACES = {
    "update": (Trainer, "update"),
    "decode": (generation.SummaryTask, "decode"),
    "validation": (Trainer, "measure"),
}


def set_trap(place: str, turn: int) -> None:
    """Arrange for this process to be killed."""
    owner, name = PLACES[place]
    action, turns = getattr(owner, name), 0

    def fatal(*arguments: Any) -> Any:
        nonlocal turns
        turns += 1
        if turns == turn:
            os.kill(os.getpid(), signal.SIGKILL)
        return action(*arguments)

    setattr(owner, name, fatal)


def calm() -> None:
    """Let Adam make small steps of small gradients, as ``tiny.calm`` does: processes add up in another order."""
    make = trainer.optimizer_of

    def calmed(training: Any, parameters: Any) -> torch.optim.Optimizer:
        made = make(training, parameters)
        if training.optimizer != "adafactor":
            made.param_groups[0]["eps"] = 1e-3
        return made

    trainer.optimizer_of = calmed


def shard(layers: str) -> None:
    """Let accelerate shard models (FSDP) with these layers as units, which it offers for accelerators alone."""
    from accelerate.state import AcceleratorState
    from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin

    os.environ.update(ACCELERATE_USE_FSDP="true", FSDP_VERSION="2", FSDP_AUTO_WRAP_POLICY="TRANSFORMER_BASED_WRAP")
    os.environ.update(FSDP_TRANSFORMER_CLS_TO_WRAP=layers, FSDP_RESHARD_AFTER_FORWARD="true")
    os.environ.update(FSDP_CPU_RAM_EFFICIENT_LOADING="false")
    make = launch.new_accelerator

    def sharding(training: Any, run: Any) -> Any:
        made = make(training, run)
        plugin = FullyShardedDataParallelPlugin()
        AcceleratorState._shared_state.update(distributed_type=DistributedType.FSDP, fsdp_plugin=plugin)
        if training.mixed_precision != "no":
            plugin.set_mixed_precision(training.mixed_precision)  # as accelerate does
        launch.check_sharding(made, training)
        launch.leave_precision_to_autocast(made)
        return made

    launch.new_accelerator = sharding


def work(rank: int, port: int, job: dict[str, Any]) -> None:
    """What one process does; it ends by itself."""
    os.environ["ACCELERATE_USE_CPU"] = "true"
    if job["count"] > 1:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": job["count"], "LOCAL_WORLD_SIZE": job["count"]}
        os.environ.update({name: str(value) for name, value in place.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if "sharded" in job:
        shard(job["sharded"])
    if "kill" in job and job["kill"][0] == rank:
        set_trap(*job["kill"][1:])
    sys.argv = ["rlsum", *map(str, job["arguments"])]
    cli.main()


def run(job: dict[str, Any]) -> list[int]:
    """How the processes of a job ended."""
    port, children = free_port(), []
    for rank in range(job["count"]):
        children.append(os.fork())
        if children[-1] == 0:
            status = 1
            try:
                work(rank, port, job)
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                sys.stderr.flush()
                os._exit(status)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    torch.set_num_threads(1)
    calm()
    for each in json.loads(sys.argv[1]):
        print(json.dumps(run(each)), flush=True)
