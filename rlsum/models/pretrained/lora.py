"""Low-rank updates with peft: added to a network, merged into copies of its weights, saved in peft's format.

Only this module imports peft.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from rlsum.models.pretrained.loading import SEQ2SEQ, Family
from rlsum.models.pretrained.options import LoraConfig
from rlsum.models.summarizer import own_tensors

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

FOLDER, WEIGHTS = "adapter", "adapter/adapter_model.safetensors"
NAME = "default"  # of the adapter; part of its tensors' names in memory, not in files


def faults(config: LoraConfig, sizes: PreTrainedConfig, family: Family = SEQ2SEQ) -> list[str]:
    """Why a network of these sizes cannot have these updates. Builds it without memory for its weights."""
    if find_spec("peft") is None:
        return ["model.lora: needs peft, which is not installed; pip install 'rlsum[peft]'"]
    from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN

    if config.targets is None and sizes.model_type not in KNOWN:
        return [
            f"model.lora.targets: peft has no default for {sizes.model_type}; name layers, for example [q_proj, v_proj]"
        ]
    return _misplaced(config, sizes, family)


def _misplaced(config: LoraConfig, sizes: PreTrainedConfig, family: Family) -> list[str]:
    """Layers that are missing, of another type, or share their weights."""
    from peft.tuners.lora import LoraLayer
    from peft.utils.error import PeftError

    network = family.empty(sizes)
    users = Counter(id(tensor) for _, tensor in network.named_parameters(remove_duplicate=False))
    try:
        with warnings.catch_warnings(action="ignore"):  # faults are reported below
            add(network, config, "", family)
    except (ValueError, PeftError) as error:
        return [f"model.lora.targets={list(config.targets or ())}: {' '.join(str(error).split())}"]
    layers = [(name, layer) for name, layer in network.named_modules() if isinstance(layer, LoraLayer)]
    tied = [name for name, layer in layers if users[id(layer.base_layer.weight)] > 1]
    if not tied:
        return []
    return [
        f"model.lora.targets={list(config.targets or ())}: {', '.join(tied)} shares weights with another layer, so its "
        "update could not be merged; leave it out"
    ]


def add(network: PreTrainedModel, config: LoraConfig, origin: str, family: Family) -> None:
    """Freeze a network and add updates to its layers. They start at zero, so its outputs do not change."""
    import peft

    settings = peft.LoraConfig(
        task_type=family.task,
        base_model_name_or_path=origin,
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=None if config.targets is None else list(config.targets),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fan_in_fan_out")  # of GPT-2's layers, which peft then sets itself
        peft.inject_adapter_in_model(settings, network, adapter_name=NAME)


@contextmanager
def switched_off(network: PreTrainedModel) -> Iterator[None]:
    """Disable the updates: the network as it was before training."""
    from peft.tuners.lora import LoraLayer

    layers = [layer for layer in network.modules() if isinstance(layer, LoraLayer)]
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)


def save_to(folder: Path, network: PreTrainedModel) -> None:
    """Write the configuration of the adapter."""
    config = copy(network.peft_config[NAME])
    config.target_modules = sorted(config.target_modules)  # of a set, whose order differs between processes
    config.save_pretrained(folder / FOLDER)


def adapter(network: PreTrainedModel) -> dict[str, Tensor]:
    """The updates by their names in peft's files."""
    tensors = own_tensors(network)
    return {f"base_model.model.{name}".replace(f".{NAME}.", "."): t for name, t in tensors.items() if ".lora_" in name}


def merged(network: PreTrainedModel) -> dict[str, Tensor]:
    """All weights by their names in transformers, with updates added; the network does not change."""
    from peft.tuners.lora import LoraLayer

    layers = {f"{name}.weight": layer for name, layer in network.named_modules() if isinstance(layer, LoraLayer)}
    weights = {}
    for name, tensor in own_tensors(network).items():
        plain = name.replace(".base_layer.", ".")
        if ".lora_" not in name:
            weights[plain] = tensor + layers[plain].get_delta_weight(NAME) if plain in layers else tensor
    return weights
