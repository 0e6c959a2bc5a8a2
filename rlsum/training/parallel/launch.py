"""Accelerate set-up: device, precision, processes, which trackers."""

from __future__ import annotations

import warnings
from pathlib import Path

from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedType
from torch import cpu, distributed

from rlsum.config import ConfigError, Training
from rlsum.training.parallel.processes import TIMEOUT

# Keeps process groups alive until this process ends. Gloo's destructor joins a thread that may be waiting for the
# interpreter's lock to free a tensor; if the destructor runs with the lock held, as when a trainer is freed, it hangs.
_JOINED: list[distributed.ProcessGroup | None] = []


def new_accelerator(training: Training, run: Path) -> Accelerator:
    """The Accelerator of a run, whose tracker writes to the folder ``run`` once it is started.

    Raises ConfigError for precision, sharding or a tracker that is not available here.
    """
    warnings.filterwarnings("ignore", "`log_with=")  # of a tracker that is not installed, which is an error here
    AcceleratorState._reset_state()  # the precision of an earlier run in this process; its processes stay
    try:
        accelerator = Accelerator(
            mixed_precision=training.mixed_precision,
            log_with=list(training.trackers) or None,
            project_dir=str(run),
            kwargs_handlers=[InitProcessGroupKwargs(timeout=TIMEOUT)],
        )
    except ValueError as error:  # precision that the device lacks, or an unknown tracker
        trackers = ", ".join(training.trackers)
        raise ConfigError(
            f"training.mixed_precision={training.mixed_precision}, training.tracker={trackers}: {error}"
        ) from error
    if distributed.is_available() and distributed.is_initialized():
        _JOINED.append(distributed.group.WORLD)
    check_sharding(accelerator, training)
    leave_precision_to_autocast(accelerator)
    # accelerate goes on silently without either
    if training.mixed_precision == "fp16" and accelerator.scaler is None:
        raise ConfigError("training.mixed_precision=fp16: not available on this device; use bf16 or no")
    for name in {*training.trackers} - {str(tracker) for tracker in accelerator.log_with}:
        raise ConfigError(f"training.tracker={name}: not installed; install it, or use tensorboard or null")
    return accelerator


def slow_precision(accelerator: Accelerator) -> str | None:
    """A sentence where half precision was measured to be slower than float32: on processors without AMX."""
    if accelerator.mixed_precision == "no" or accelerator.device.type != "cpu" or cpu._is_amx_tile_supported():
        return None
    precision = accelerator.mixed_precision
    return (
        f"training.mixed_precision={precision} is slower than float32 on a processor without AMX, as this one; use no"
    )


def check_sharding(accelerator: Accelerator, training: Training) -> None:
    """Raise ConfigError if accelerate is configured to shard the model in a way that would change training."""
    distribution = accelerator.distributed_type
    if distribution in (DistributedType.DEEPSPEED, DistributedType.MEGATRON_LM, DistributedType.XLA):
        raise ConfigError(f"accelerate's distributed_type={distribution.value} is not supported; use MULTI_GPU or FSDP")
    if distribution != DistributedType.FSDP:
        return
    plugin = accelerator.state.fsdp_plugin
    if plugin.fsdp_version != 2 or plugin.cpu_ram_efficient_loading:
        raise ConfigError(
            "FSDP needs fsdp_version: 2 and fsdp_cpu_ram_efficient_loading: false in accelerate's configuration, as "
            "`rlsum configs accelerate/fsdp` prints it"
        )
    if training.optimizer == "adafactor":
        raise ConfigError(
            "training.optimizer=adafactor: needs rows and columns of whole tensors, which FSDP shards; use adamw"
        )


def leave_precision_to_autocast(accelerator: Accelerator) -> None:
    """Prevent FSDP from casting weights, gradients and outputs to half precision, as accelerate configures it.

    Log-probabilities would be cast, too, and no longer agree with those of decoding.
    """
    if accelerator.distributed_type == DistributedType.FSDP:
        from torch.distributed.fsdp import MixedPrecisionPolicy  # with torch.distributed.tensor, half a second

        accelerator.state.fsdp_plugin.mixed_precision_policy = MixedPrecisionPolicy()
