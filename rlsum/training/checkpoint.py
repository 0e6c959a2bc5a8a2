"""Weights and run state on disk. Every file is written whole or not at all, also under SIGKILL.

A checkpoint folder holds model.safetensors, config.yaml, rewards.json and the model's other files (vocab.txt; or
tokenizer, sizes and decoding of a pretrained model). Only the weights ever change, so replacing that one file replaces
the checkpoint. For the same reason, ``state.safetensors`` of a run holds weights, optimiser and progress in one file.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from rlsum import config as configs
from rlsum.config import Config, Training
from rlsum.errors import UserError, option
from rlsum.files import file_digest, replacing_files, write_atomically
from rlsum.models.summarizer import WEIGHTS, Model, own_tensors
from rlsum.records import defined
from rlsum.training.parallel.sharding import sharded, whole

CONFIG, REWARDS = "config.yaml", "rewards.json"
STATE, START, RESULT, LOCK = "state.safetensors", "start.safetensors", "result.json", ".lock"


class CheckpointError(UserError):
    """An unusable checkpoint: the message names the path and the fix."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder and the configuration stored in it."""

    folder: Path
    config: Config


@dataclass
class Progress:
    """How far a run has come.

    had_gradient, had_advantage  whether any update, or any sample had one; None: nothing was sampled
    best       the best selection value, higher is better; None before the first defined one
    finished   early stopping has ended the run
    scaler     state of the loss scaler, with fp16
    due        a signal came before the validation of this step had ended
    unwritten  of a run that a signal stopped: what its logs do not have yet
    """

    step: int = 0
    had_gradient: bool = False
    had_advantage: bool | None = None
    best: float | None = None
    best_step: int = 0
    without_gain: int = 0
    finished: bool = False
    scaler: dict[str, float] | None = None
    due: bool = False
    unwritten: dict[str, Any] | None = None

    def validated(self, value: float, training: Training) -> bool:
        """Count a validation by its selection value; returns whether it is the best so far."""
        self.due = False
        better = self.best is None or value > self.best
        if better:
            self.best = value if math.isfinite(value) else None
            self.best_step, self.without_gain = self.step, 0
        else:
            self.without_gain += 1
            self.finished = training.patience is not None and self.without_gain >= training.patience
        return better


def claim(run: str | Path) -> IO[bytes]:
    """Lock a run folder until the returned file is closed or the process ends, even by SIGKILL.

    Raises CheckpointError if another process holds the lock, or if the folder cannot be written.
    """
    try:
        Path(run).mkdir(parents=True, exist_ok=True)
        lock = (Path(run) / LOCK).open("ab")
    except OSError as error:
        raise CheckpointError(f"run={run}: cannot be written ({error.strerror}); choose another run=") from error
    try:
        # the lock belongs to the process, not to the open file, so forked workers do not keep it
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise CheckpointError(
            f"run={run}: another process is writing there ({error.strerror}); wait for it, or choose another run="
        ) from error
    return lock


def create(folder: Path, config: Config, model: Model, signatures: Mapping[str, str]) -> None:
    """Write the files of a checkpoint folder, except its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / CONFIG, configs.dump(config).encode())
    with replacing_files(folder) as partial:
        model.save_to(partial, asdict(config.tokenization), config.decoding)
    write_atomically(folder / REWARDS, (json.dumps(dict(signatures), indent=2) + "\n").encode())


def save_weights(folder: Path, model: Model, about: Mapping[str, Any]) -> None:
    """Replace the weights of a checkpoint folder; ``about`` (step, validation values) goes into the file's header."""
    metadata = {"about": json.dumps(defined(about)), "format": "pt"}  # transformers needs a format
    for name, tensors in model.weight_files().items():
        write_atomically(folder / name, _ordered(save(_cpu(tensors), metadata)))


def _ordered(content: bytes) -> bytes:
    """A safetensors file with sorted metadata, whose order safetensors varies from call to call."""
    size = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + size])
    head["__metadata__"] = dict(sorted(head["__metadata__"].items()))
    written = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    written += b" " * (-len(written) % 8)  # the tensors stay aligned
    return b"".join((len(written).to_bytes(8, "little"), written, memoryview(content)[8 + size :]))


def find(path: str | Path) -> Checkpoint:
    """The checkpoint that a path means: the folder itself, or ``best`` inside a run. Raises CheckpointError."""
    checkpoint = find_or_none(path)
    if checkpoint is None:
        raise CheckpointError(
            f"{path}: no {WEIGHTS} and {CONFIG} there or in best/; give a run folder or a checkpoint folder. To start "
            f"from a pretrained model of transformers, name it in the configuration instead: "
            f"model='{{kind: seq2seq, pretrained: {path}}}', or kind: causal of a language model"
        )
    return checkpoint


def find_or_none(path: str | Path) -> Checkpoint | None:
    """Like ``find``; None if no run wrote the folder."""
    for folder in (Path(path), Path(path) / "best"):
        missing = [name for name in (WEIGHTS, CONFIG) if not (folder / name).is_file()]
        if not missing:
            return Checkpoint(folder, read_config(folder))
        if (folder / REWARDS).is_file():
            raise CheckpointError(f"{folder / missing[0]}: no such file; use another checkpoint")
    return None


def described(path: str | Path) -> Checkpoint | None:
    """Like ``find_or_none``, but the weights may be gone, as to free the disk."""
    folders = (folder for folder in (Path(path), Path(path) / "best") if (folder / REWARDS).is_file())
    return next((Checkpoint(folder, read_config(folder)) for folder in folders), None)


def read_config(folder: Path) -> Config:
    """The configuration stored in a checkpoint or run folder."""
    return configs.load(folder / CONFIG)


def read_weights(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Weights by name, and the ``about`` of ``save_weights``."""
    return _read(folder / WEIGHTS, "about")


def step_of(folder: Path) -> int | None:
    """The update after which the weights of a checkpoint were saved, 0: the start of its run; None: not recorded."""
    step = header(folder / WEIGHTS).get("step")
    return None if step is None else int(step)


def header(path: Path, key: str = "about") -> dict[str, Any]:
    """What a file of tensors says of them, {} if nothing; reads no weights. Raises CheckpointError if it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            return dict(json.loads((file.metadata() or {}).get(key, "{}")))
    except (OSError, SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); use another checkpoint") from error


def put_weights(model: nn.Module, weights: Mapping[str, Tensor], origin: Path, optional: Collection[str] = ()) -> None:
    """Load weights into a model; ``optional`` ones may be missing. Raises CheckpointError if they do not fit."""
    try:
        missing, unexpected = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:  # sizes
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{origin}: weights do not fit {CONFIG} and its words: {reason}") from error
    if unexpected or set(missing) - set(optional):
        raise CheckpointError(f"{origin}: weights do not fit; missing {missing}, unexpected {unexpected}")


def moments_of(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimiser's state by ``parameter number.name``. If the model is sharded, every process must call it."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": whole(torch.as_tensor(value))
        for number, values in state.items()
        for name, value in values.items()
    }


def save_state(run: Path, model: nn.Module, moments: Mapping[str, Tensor], progress: Progress) -> None:
    """Write everything that a run needs to continue as if it had never stopped."""
    tensors = {f"model.{name}": tensor for name, tensor in own_tensors(model).items()}
    tensors |= {f"optimizer.{name}": tensor for name, tensor in moments.items()}
    write_atomically(run / STATE, save(_cpu(tensors), {"progress": json.dumps(asdict(progress))}))


def load_state(run: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Restore a run's state. Raises CheckpointError if there is none."""
    tensors, progress = _read(run / STATE, "progress")
    weights = {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")}
    put_weights(model, weights, run / STATE, optional=_aliases(model))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, number, moment = name.split(".")
            moments.setdefault(int(number), {})[moment] = tensor
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    for parameter, values in optimizer.state.items():  # shards them if the model is sharded
        values |= {name: sharded(value, parameter) for name, value in values.items() if value.shape == parameter.shape}
    return Progress(**progress)


def progress_of(run: Path) -> Progress:
    """How far a run has come, from its state; reads no weights. Raises CheckpointError if it is damaged."""
    return Progress(**header(run / STATE, "progress"))


def save_start(run: Path, model: nn.Module) -> None:
    """Save the weights that a run starts with, which the KL penalty measures from."""
    write_atomically(run / START, save(_cpu(own_tensors(model)), {"about": "{}"}))


def load_start(run: Path, model: nn.Module) -> None:
    """Load the weights that a run started with into a model. Raises CheckpointError if there are none."""
    put_weights(model, _read(run / START, "about")[0], run / START, optional=_aliases(model))


def start_digest(run: Path) -> str:
    """Sixteen hex digits that change with any byte of the saved start. Raises CheckpointError if there is none."""
    try:
        return file_digest(run / START)[:16]
    except OSError as error:
        raise CheckpointError(
            f"{run / START}: cannot be read ({error.strerror}); the KL penalty measures from these weights: restore "
            f"the file, or start a new run with {option('init', run)}"
        ) from error


def _aliases(model: nn.Module) -> Collection[str]:
    """Second names of tensors, such as tied embeddings."""
    return model.state_dict().keys() - own_tensors(model).keys()


def digest(model: nn.Module) -> str:
    """Sixteen hex digits that change with any weight."""
    return hashlib.sha256(save(_cpu(own_tensors(model)))).hexdigest()[:16]


def _read(path: Path, key: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()[key])  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path}: not written by this version of rlsum ({error}); use another checkpoint"
        ) from error


def _cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
