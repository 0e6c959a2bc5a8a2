"""Start tiny runs of every kind, end each at its own bad moment, and continue it by the command that began it.

``python killed.py FOLDER KIND ...`` leaves FOLDER/KIND/<moment> behind, FOLDER/KIND/whole, which nothing ended, and
FOLDER/KIND/<forgetful>, which must not equal it, and prints how they ended. All are forks of one process, so that
torch is imported once.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import seq2seq_runs

from rlsum import files
from rlsum.errors import disk_full
from rlsum.training.log.monitor import Monitor
from rlsum.training.run import train
from rlsum.training.trainer import Trainer

WHOLE, FORGETFUL = "whole", "forget in update 3"  # the optimizer's state, after that update
WEIGHTS, STATE = "model.safetensors", "state.safetensors"
# a file: half of it is written; "after" a file: it has its name; an update: the weights have moved
MOMENTS = [
    *(f"SIGKILL in {place}" for place in (
        "config.yaml 1", "rewards.json 1", f"{WEIGHTS} 1", f"after {WEIGHTS} 1", f"{STATE} 1", f"after {STATE} 1",
        f"{WEIGHTS} 2", f"after {WEIGHTS} 2", f"{STATE} 2", "update 1", "update 4", "random 1", "random 2",
    )),
    *(f"SIGTERM in {place}" for place in (
        "config.yaml 1", "rewards.json 1", "measure 1", f"{STATE} 1", "update 1", "update 4", "measure 2", "measure 4",
    )),
    *(f"ENOSPC in {place}" for place in ("rewards.json 1", f"{WEIGHTS} 1", f"{STATE} 1", "log 2", f"{STATE} 2")),
    *(f"SIGTERM in measure 1, {then} in {WEIGHTS} 1" for then in ("SIGKILL", "ENOSPC")),
]  # fmt: skip
FEW = ["SIGTERM in measure 1", f"SIGKILL in {STATE} 1", f"SIGKILL in {STATE} 2", "SIGTERM in update 4"]
REWARDED = {"objective": {**seq2seq_runs.MIXED, "estimator": "rloo", "gamma_end": 0.9, "kl": 0.1}}
LORA = {"rank": 2, "alpha": 64, "targets": ["q_proj", "v_proj"]}
KINDS: dict[str, tuple[str, dict[str, Any], str | None]] = {  # the model, keys of the run, what it starts from
    "words-new": ("words", {"model.dropout": 0.2, "model.coverage": True}, None),
    "words-init": ("words", {"model": None, **REWARDED}, "words-new/whole"),
    "bart-new": ("bart", {"model.dropout": True}, None),
    "bart-lora": ("bart", {"model.lora": LORA, **REWARDED}, "bart-new/whole/best"),
    "llama-new": ("llama", REWARDED, None),
    "llama-lora": ("llama", {"model.lora": {**LORA, "dropout": 0.1}}, None),
    "llama-lora-init": ("llama", {"model.lora": LORA, **REWARDED}, "llama-lora/whole"),
    "llama-init": ("llama", {"model": None, **REWARDED}, "llama-lora/whole/best"),
}


def moments(kind: str) -> list[str]:
    """Those of a kind; two kinds share all of them."""
    more = {"words-init": MOMENTS[::2], "llama-lora-init": MOMENTS[1::2]}.get(kind, [])
    return list(dict.fromkeys([*FEW, *more]))


def run_of(folder: Path, kind: str, moment: str) -> Path:
    return folder / kind / moment.replace(", ", "-").replace(" ", "-")  # YAML would fold a long name with spaces


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def ended_by(name: str) -> Callable[[], None]:
    return full if name == "ENOSPC" else lambda: os.kill(os.getpid(), signal.Signals[name])


def set_traps(moment: str) -> None:
    """Arrange that this process is ended at a moment."""
    traps = [tuple(trap.split(" in ")) for trap in moment.split(", ") if " in " in trap]
    seen: list[str] = []

    def reached(where: str, forget: Callable[[], None] = lambda: None) -> None:
        seen.append(where)
        for what, place in traps:
            if place == f"{where} {seen.count(where)}":
                (forget if what == "forget" else ended_by(what))()

    def sync(path: Path) -> None:  # not to the disk: no power is cut
        if path.is_dir():
            reached(f"after {seen[-1]}" if seen else "")
        else:
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
            reached(path.name.removesuffix(".partial"))
            path.write_bytes(content)

    def update(trainer: Trainer, original: Any = Trainer.update) -> None:
        step = trainer.optimizer.step
        trainer.optimizer.step = lambda: (step(), reached("update", trainer.optimizer.state.clear))
        original(trainer)
        trainer.optimizer.step = step

    def trap(owner: type, name: str, where: str) -> None:
        original = getattr(owner, name)
        setattr(owner, name, lambda *given: (reached(where), original(*given))[1])

    files.sync, Trainer.update = sync, update
    trap(Trainer, "measure", "measure")
    trap(Monitor, "_write", "log")
    for what, place in traps:
        if place.startswith("random"):
            threading.Timer(random.uniform(0.0, 1.0), ended_by(what)).start()


def fork(folder: Path, kind: str, run: str, moment: str) -> int:
    """Train in a process of its own until it ends, however: its exit code, as of the command line."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            set_traps(moment)
            name, keys, start = KINDS[kind]
            keys = {"run": run_of(folder, kind, run), **keys}
            init = None if start is None else folder / start
            ended = train(folder / f"{name}.json", keys, init=init, auto_resume=True)
            code = 0 if ended.stopped is None else 128 + ended.stopped
        except OSError as error:
            code = os.EX_TEMPFAIL if disk_full(error) else code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def configurations(folder: Path) -> None:
    training = {"steps": 5, "batch_size": 2, "accumulate": 2, "validate_every": 2, "log_every": 3, "warmup": 3,
                "schedule": "linear", "learning_rate": 1e-2}  # fmt: skip
    for name in ("words", "bart", "llama"):
        values = seq2seq_runs.settings(folder, name, "none", training=training)
        if name == "words":
            values["model"] = {"embedding": 6, "hidden": 8}
        (folder / f"{name}.json").write_text(json.dumps(values))


class Latest:
    """Every validation has a new best."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer, self.name = trainer, trainer.choice.name

    def __call__(self, values: Mapping[str, float]) -> float:
        return float(self.trainer.progress.step)


def prepared(trainer: Trainer, original: Any = Trainer.__post_init__) -> None:
    original(trainer)
    trainer.choice = Latest(trainer)


def main(folder: Path, *kinds: str) -> None:
    for name in (
        "peft",
        "rlsum.training.build",
        *(f"rlsum.training.start.{kind}" for kind in ("causal", "pointer_generator", "seq2seq")),
    ):
        import_module(name)  # once for all forks
    torch.set_num_threads(1)
    Trainer.__post_init__ = prepared
    seq2seq_runs.furnish(folder)
    configurations(folder)
    for kind in kinds or KINDS:
        for moment in (WHOLE, FORGETFUL, *moments(kind)):
            ends = [fork(folder, kind, moment, moment)]
            if ends[0] != 0:
                ends.append(fork(folder, kind, moment, WHOLE))
            print(json.dumps([kind, moment, *ends]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
