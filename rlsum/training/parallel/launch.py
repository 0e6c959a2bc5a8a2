"""How a run stands on its machines: devices, precision and processes through accelerate, and the tracker that logs."""

from __future__ import annotations

from pathlib import Path

from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import DistributedType
from torch import distributed
from torch.distributed.fsdp import MixedPrecisionPolicy

from rlsum.config import ConfigError, Training
from rlsum.training.parallel.processes import TIMEOUT

# Groups of processes, for the life of this one. Gloo's destructor joins a thread that may just want the interpreter's
# lock to let go of a tensor; run with that lock held, as where a trainer is let go of, it would wait for ever.
_JOINED: list[distributed.ProcessGroup | None] = []


def accelerator(training: Training, run: Path) -> Accelerator:
    """What places the tensors of a run and joins its processes. Raises ConfigError for what cannot be here.

    Its trackers write to the folder ``run``, once they are started.
    """
    try:
        built = Accelerator(
            mixed_precision=training.mixed_precision,
            log_with=training.tracker,
            project_dir=str(run),
            kwargs_handlers=[InitProcessGroupKwargs(timeout=TIMEOUT)],
        )
    except ValueError as error:  # precision that the device lacks, or a tracker that nobody knows
        raise ConfigError(
            f"training.mixed_precision={training.mixed_precision}, training.tracker={training.tracker}: {error}"
        ) from error
    if distributed.is_available() and distributed.is_initialized():
        _JOINED.append(distributed.group.WORLD)
    check_spreading(built, training)
    compute_as_unspread(built)
    # accelerate goes on without either
    if training.mixed_precision == "fp16" and built.scaler is None:
        raise ConfigError("training.mixed_precision=fp16: not on this device; use bf16 or no")
    if training.tracker is not None and not built.log_with:
        raise ConfigError(f"training.tracker={training.tracker}: not installed; install it, or use tensorboard or null")
    return built


def check_spreading(accelerator: Accelerator, training: Training) -> None:
    """Raise ConfigError where accelerate was told to spread a model in a way that would train something else."""
    kind = accelerator.distributed_type
    if kind in (DistributedType.DEEPSPEED, DistributedType.MEGATRON_LM, DistributedType.XLA):
        raise ConfigError(f"accelerate's distributed_type={kind.value} is not supported; use MULTI_GPU or FSDP")
    if kind != DistributedType.FSDP:
        return
    plugin = accelerator.state.fsdp_plugin
    if plugin.fsdp_version != 2 or plugin.cpu_ram_efficient_loading:
        raise ConfigError(
            "accelerate's FSDP needs fsdp_version: 2 and fsdp_cpu_ram_efficient_loading: false, as in "
            "configs/accelerate/fsdp.yaml"
        )
    if training.optimizer == "adafactor":  # its rows and columns are of whole tensors
        raise ConfigError("training.optimizer=adafactor: not with FSDP, where a process has a part of each; use adamw")


def compute_as_unspread(accelerator: Accelerator) -> None:
    """Leave half precision to autocast where a model is spread, as everywhere.

    accelerate would have FSDP cast weights, gradients and what the model returns: log-probabilities, too, which must
    agree with those of decoding.
    """
    if accelerator.distributed_type == DistributedType.FSDP:
        accelerator.state.fsdp_plugin.mixed_precision_policy = MixedPrecisionPolicy()


def start_tracker(training: Training, run: Path, accelerator: Accelerator, step: int) -> None:
    """Begin to log after update ``step``; tensorboard then hides what it holds of later ones, from before a kill."""
    if training.tracker == "tensorboard":
        since = step + 1 if step else 0  # a run at update 0 logs its start anew
        accelerator.init_trackers("tensorboard", init_kwargs={"tensorboard": {"purge_step": since}})
    elif training.tracker is not None:
        accelerator.init_trackers(run.name)
