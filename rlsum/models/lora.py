"""Low-rank updates through peft: added to a network, merged without touching it, named as peft reads them.

The one import of peft.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rlsum.models.sizes import LoraConfig
from rlsum.models.summarizer import own_tensors

if TYPE_CHECKING:
    import peft
    from transformers import PreTrainedConfig, PreTrainedModel

FOLDER, WEIGHTS = "adapter", "adapter/adapter_model.safetensors"
NAME = "default"  # of the one adapter, part of its tensors' names until they are written


def faults(config: LoraConfig, sizes: PreTrainedConfig) -> list[str]:
    """Why a network of these sizes could not get these updates. Makes it, without memory for its weights."""
    if find_spec("peft") is None:
        return ["model.lora: needs peft, which is not installed; pip install 'rlsum[peft]'"]
    from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN

    if config.targets is None and sizes.model_type not in KNOWN:
        return [
            f"model.lora.targets: peft has no default for {sizes.model_type}; name layers, for example [q_proj, v_proj]"
        ]
    return _misplaced(config, sizes)


def _misplaced(config: LoraConfig, sizes: PreTrainedConfig) -> list[str]:
    """Why its layers could not get these updates: they are not there, of another kind, or share their weights."""
    from peft.tuners.lora import LoraLayer
    from peft.utils.error import PeftError
    from transformers import AutoModelForSeq2SeqLM

    with torch.device("meta"):
        network = AutoModelForSeq2SeqLM.from_config(sizes)
    users = Counter(id(tensor) for _, tensor in network.named_parameters(remove_duplicate=False))
    try:
        with warnings.catch_warnings(action="ignore"):  # of what is refused below
            add(network, config, "")
    except (ValueError, PeftError) as error:
        return [f"model.lora.targets={list(config.targets or ())}: {' '.join(str(error).split())}"]
    layers = [(name, layer) for name, layer in network.named_modules() if isinstance(layer, LoraLayer)]
    tied = [name for name, layer in layers if users[id(layer.base_layer.weight)] > 1]
    if not tied:
        return []
    return [
        f"model.lora.targets={list(config.targets or ())}: {', '.join(tied)} shares weights with another layer, which "
        "has no update, so that they could not be merged; leave it out"
    ]


def add(network: PreTrainedModel, config: LoraConfig, origin: str) -> None:
    """Freeze a network and put updates beside its layers. They start as zero: it computes what it did."""
    import peft

    peft.inject_adapter_in_model(_described(config, origin), network, adapter_name=NAME)


def _described(config: LoraConfig, origin: str) -> peft.LoraConfig:
    import peft

    return peft.LoraConfig(
        task_type="SEQ_2_SEQ_LM",
        base_model_name_or_path=origin,
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=None if config.targets is None else list(config.targets),
    )


@contextmanager
def switched_off(network: PreTrainedModel) -> Iterator[None]:
    """The frozen network without its updates, as it was before training."""
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
    """Write the adapter's description."""
    network.peft_config[NAME].save_pretrained(folder / FOLDER)


def adapter(network: PreTrainedModel) -> dict[str, Tensor]:
    """The updates by the names that peft reads."""
    tensors = own_tensors(network)
    return {f"base_model.model.{name}".replace(f".{NAME}.", "."): t for name, t in tensors.items() if ".lora_" in name}


def merged(network: PreTrainedModel) -> dict[str, Tensor]:
    """Every weight by its name in transformers, with its update added; the network stays as it is."""
    from peft.tuners.lora import LoraLayer

    layers = {f"{name}.weight": layer for name, layer in network.named_modules() if isinstance(layer, LoraLayer)}
    weights = {}
    for name, tensor in own_tensors(network).items():
        plain = name.replace(".base_layer.", ".")
        if ".lora_" not in name:
            weights[plain] = tensor + layers[plain].get_delta_weight(NAME) if plain in layers else tensor
    return weights
