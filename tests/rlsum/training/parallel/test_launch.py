"""What accelerate is told, and which ways to spread a model are refused."""

from types import SimpleNamespace

import pytest
from accelerate.utils import DistributedType
from torch.distributed.fsdp import MixedPrecisionPolicy

from rlsum.config import ConfigError, Training
from rlsum.training.parallel import launch

FSDP = {"fsdp_version": 2, "cpu_ram_efficient_loading": False}


def accelerator(kind, **plugin):
    """As much of an accelerator as is asked."""
    return SimpleNamespace(distributed_type=kind, state=SimpleNamespace(fsdp_plugin=SimpleNamespace(**plugin)))


@pytest.mark.parametrize(
    ("built", "training", "message"),
    [
        (
            accelerator(DistributedType.DEEPSPEED),
            {},
            "distributed_type=DEEPSPEED is not supported; use MULTI_GPU or FSDP",
        ),
        (accelerator(DistributedType.FSDP, **FSDP | {"fsdp_version": 1}), {}, "FSDP needs fsdp_version: 2"),
        (accelerator(DistributedType.FSDP, **FSDP | {"cpu_ram_efficient_loading": True}), {}, "loading: false"),
        (
            accelerator(DistributedType.FSDP, **FSDP),
            {"optimizer": "adafactor"},
            "optimizer=adafactor: .* FSDP",
        ),
    ],
    ids=["deepspeed", "fsdp 1", "loading", "adafactor"],
)
def test_ways_to_spread_a_model_that_would_train_something_else_are_refused(built, training, message):
    with pytest.raises(ConfigError, match=message):
        launch.check_sharding(built, Training(steps=1, **training))


@pytest.mark.parametrize("kind", [DistributedType.NO, DistributedType.MULTI_GPU, DistributedType.MULTI_CPU])
def test_whole_models_may_have_any_optimizer(kind):
    launch.check_sharding(accelerator(kind), Training(steps=1, optimizer="adafactor"))
    launch.leave_precision_to_autocast(accelerator(kind))


def test_a_spread_model_returns_what_it_computes():
    built = accelerator(DistributedType.FSDP, **FSDP, mixed_precision_policy="accelerate's")
    launch.check_sharding(built, Training(steps=1))
    launch.leave_precision_to_autocast(built)
    assert built.state.fsdp_plugin.mixed_precision_policy == MixedPrecisionPolicy()


@pytest.mark.parametrize(
    ("precision", "device", "amx", "warned"),
    [
        ("bf16", "cpu", False, True),
        ("bf16", "cpu", True, False),
        ("bf16", "cuda", False, False),
        ("no", "cpu", False, False),
    ],
)
def test_half_precision_on_a_processor_without_amx_is_warned_of(precision, device, amx, warned, monkeypatch):
    monkeypatch.setattr(launch.cpu, "_is_amx_tile_supported", lambda: amx)
    built = SimpleNamespace(mixed_precision=precision, device=SimpleNamespace(type=device))
    assert (launch.slow_precision(built) is not None) == warned
