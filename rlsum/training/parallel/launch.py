"""Accelerate set-up: device, precision, processes, tracker."""

from __future__ import annotations

from pathlib import Path

from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import DistributedType
from torch import distributed
from torch.distributed.fsdp import MixedPrecisionPolicy

from rlsum.config import ConfigError, Training
from rlsum.training.parallel.processes import TIMEOUT

# Keeps process groups alive until this process ends. Gloo's destructor joins a thread that may be waiting for the
# interpreter's lock to free a tensor; if the destructor runs with the lock held, as when a trainer is freed, it hangs.
_JOINED: list[distributed.ProcessGroup | None] = []


def accelerator(training: Training, run: Path) -> Accelerator:
    """The Accelerator of a run, whose tracker writes to the folder ``run`` once it is started.

    Raises ConfigError for precision, sharding or a tracker that is not available here.
    """
    try:
        result = Accelerator(
            mixed_precision=training.mixed_precision,
            log_with=training.tracker,
            project_dir=str(run),
            kwargs_handlers=[InitProcessGroupKwargs(timeout=TIMEOUT)],
        )
    except ValueError as error:  # precision that the device lacks, or an unknown tracker
        raise ConfigError(
            f"training.mixed_precision={training.mixed_precision}, training.tracker={training.tracker}: {error}"
        ) from error
    if distributed.is_available() and distributed.is_initialized():
        _JOINED.append(distributed.group.WORLD)
    check_sharding(result, training)
    leave_precision_to_autocast(result)
    # accelerate goes on silently without either
    if training.mixed_precision == "fp16" and result.scaler is None:
        raise ConfigError("training.mixed_precision=fp16: not available on this device; use bf16 or no")
    if training.tracker is not None and not result.log_with:
        raise ConfigError(f"training.tracker={training.tracker}: not installed; install it, or use tensorboard or null")
    return result


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
        accelerator.state.fsdp_plugin.mixed_precision_policy = MixedPrecisionPolicy()


def start_tracker(training: Training, run: Path, accelerator: Accelerator, step: int) -> None:
    """Log from update ``step`` on; tensorboard then hides later updates that it logged before a kill."""
    if training.tracker == "tensorboard":
        since = step + 1 if step else 0  # a run at update 0 logs its start again
        accelerator.init_trackers("tensorboard", init_kwargs={"tensorboard": {"purge_step": since}})
    elif training.tracker is not None:
        accelerator.init_trackers(run.name)
