"""Checks and loads pretrained encoder-decoders. Every fault names its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError

from rlsum.errors import UserError

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

TOKENIZER_FILES = ("tokenizer.json", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt")
WEIGHT_FILES = ("*.safetensors", "pytorch_model*.bin")
GENERATION = "generation_config.json"
POSITIONS = {  # names of the largest length of articles and summaries in the configs of architectures
    "source": ("max_encoder_position_embeddings", "max_position_embeddings"),
    "target": ("max_decoder_position_embeddings", "max_position_embeddings"),
}
AFTER_PADDING = {"camembert", "longformer", "roberta", "xlm-roberta"}  # positions start after that of padding
HALVES = {"source": "encoder", "target": "decoder"}  # configs of architectures made of two networks


class PretrainedError(UserError):
    """A name or folder without a pretrained summarizer."""


def folder_faults(name: str) -> list[str]:
    """What a local folder lacks; no faults for a name on the hub. Reads no weights."""
    folder = Path(name)
    key = f"model.pretrained={name}"
    if not folder.is_dir():
        looks_local = name.startswith(("/", ".", "~")) or name.count("/") > 1 or folder.exists()
        if looks_local or ("/" in name and folder.parent.is_dir()):
            return [f"{key}: no such folder; give one that save_pretrained wrote, or a name on the hub"]
        return []
    faults = []
    if not (folder / "config.json").is_file():
        faults.append(f"{key}: has no config.json; give a folder that save_pretrained of a model wrote")
    if not any(next(folder.glob(pattern), None) for pattern in WEIGHT_FILES):
        faults.append(f"{key}: has no weights (*.safetensors); give a folder that save_pretrained of a model wrote")
    if not any((folder / file).is_file() for file in TOKENIZER_FILES):
        wanted = ", ".join(TOKENIZER_FILES)
        faults.append(f"{key}: has no tokenizer ({wanted}); save one there with tokenizer.save_pretrained({name!r})")
    if not _is_object(folder / GENERATION):  # transformers would go on without it
        faults.append(
            f"{key}: {GENERATION} is not a JSON object; correct it, or delete it to decode without its settings"
        )
    return faults


def _is_object(path: Path) -> bool:
    """Whether a file holds a JSON object, or does not exist."""
    try:
        return not path.exists() or isinstance(json.loads(path.read_bytes()), dict)
    except ValueError:
        return False


def load_config(name: str) -> PreTrainedConfig:
    """The architecture and its sizes.

    Raises PretrainedError for other architectures, and for sparse attention that depends on other rows of a batch.
    """
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES as MASKED
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as ARCHITECTURES

    with _explained(name):
        config = AutoConfig.from_pretrained(name)
    if config.model_type not in ARCHITECTURES:
        language_model = config.model_type in CAUSAL and config.model_type not in MASKED
        what = "a language model without an encoder" if language_model else "not an encoder-decoder"
        raise PretrainedError(
            f"model.pretrained={name}: {config.model_type} is {what}; rlsum trains encoder-decoders of transformers: "
            "BART (facebook/bart-base), T5 (google-t5/t5-small), PEGASUS, LED, for other languages mT5 "
            "(google/mt5-small)" + ("; TRL trains language models on any reward of ours" if language_model else "")
        )
    if getattr(config, "attention_type", None) == "block_sparse":  # BigBird; becomes full at a short batch
        raise PretrainedError(
            f"model.pretrained={name}: with attention_type=block_sparse, results depend on padding, on earlier batches "
            "and on training mode; save it with full attention: "
            f"AutoModelForSeq2SeqLM.from_pretrained({name!r}, attention_type='original_full').save_pretrained(FOLDER), "
            "and its tokenizer"
        )
    return config


def weights(config: PreTrainedConfig) -> int:
    """The number of weights of a network of these sizes. Builds it without memory for them."""
    from transformers import AutoModelForSeq2SeqLM

    with torch.device("meta"):
        return int(AutoModelForSeq2SeqLM.from_config(config).num_parameters())


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer. Raises PretrainedError if it has no padding token."""
    from transformers import AutoTokenizer

    with _explained(name):
        tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token_id is None:
        raise PretrainedError(f"model.pretrained={name}: its tokenizer has no padding token; add one and save it")
    return tokenizer


def load_generation_config(name: str) -> GenerationConfig:
    """The model's generation config, by default the decoding settings in an older config.json."""
    from transformers import GenerationConfig

    try:
        return GenerationConfig.from_pretrained(name)
    except OSError:  # no such file
        return GenerationConfig.from_pretrained(name, config_file_name="config.json", _from_model_config=True)


def load_network(name: str, dropout: bool) -> PreTrainedModel:
    """The network with float32 weights on the CPU; without ``dropout``, all of its dropout rates are 0.

    Raises PretrainedError if it cannot be loaded, and for weights that are missing or not finite.
    """
    from transformers import AutoModelForSeq2SeqLM

    config = load_config(name)
    if not dropout:
        if rate := getattr(config, "moe_token_dropout", 0.0):  # evaluation multiplies by the share that training keeps
            raise PretrainedError(
                f"model.pretrained={name}: its moe_token_dropout={rate} also changes outputs without dropout and "
                "cannot be switched off; set model.dropout=true"
            )
        config.update({key: 0.0 for key in config.to_dict() if "dropout" in key or key.endswith("layerdrop")})
    with _explained(name):
        network, info = AutoModelForSeq2SeqLM.from_pretrained(
            name, config=config, dtype=torch.float32, output_loading_info=True
        )
    learnt = _learnt(network)
    missing = sorted(learnt.keys() & info["missing_keys"])  # transformers draws them at random
    if missing:
        raise PretrainedError(
            f"model.pretrained={name}: {len(missing)} of its weights are missing ({missing[0]}, ...); save the whole "
            "model with save_pretrained"
        )
    if broken := [key for key, tensor in learnt.items() if not tensor.isfinite().all()]:
        raise PretrainedError(f"model.pretrained={name}: {broken[0]} is not finite; save the model again")
    return network


def _learnt(network: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The weights that a file must contain, by name: neither computed positions nor a BERT's unused pooler."""
    return {
        f"{name}.{key}": tensor
        for name, module in network.named_modules()
        if "Sinusoidal" not in type(module).__name__ and ".pooler" not in name
        for key, tensor in module.named_parameters(recurse=False)
    }


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise PretrainedError(
            f"model.pretrained={name}: cannot be loaded ({reason}); give a folder that save_pretrained wrote, or a "
            "name on the hub that this machine can reach"
        ) from error


def positions(config: PreTrainedConfig, side: str) -> int | None:
    """Tokens that a ``source`` or ``target`` may have; None where positions are relative."""
    half: PreTrainedConfig = getattr(config, HALVES[side], config)
    for part in (config, half):
        places = next((size for name in POSITIONS[side] if (size := getattr(part, name, None)) is not None), None)
        if places is not None:
            return int(places) - (part.pad_token_id + 1 if part.model_type in AFTER_PADDING else 0)
    return None


def attention_faults(config: PreTrainedConfig, tokens: str) -> list[str]:
    """Why an architecture has no global attention for ``tokens`` of an article (none, first)."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING as ARCHITECTURES

    network = ARCHITECTURES[type(config)]
    if tokens == "none" or "global_attention_mask" in signature(network.forward).parameters:
        return []
    return [f"model.global_attention={tokens}: {config.model_type} attends to all tokens already; leave it out"]


def checkpointing_faults(config: PreTrainedConfig) -> list[str]:
    """Why an architecture has no gradient checkpointing."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING as ARCHITECTURES

    if ARCHITECTURES[type(config)].supports_gradient_checkpointing:
        return []
    return [f"model.gradient_checkpointing=true: transformers has none for {config.model_type}; leave it out"]


def length_faults(config: PreTrainedConfig, asked: dict[str, tuple[str, int]]) -> list[str]:
    """Lengths that exceed the positions. ``asked`` is key -> (source or target, tokens)."""
    faults = []
    for key, (side, tokens) in asked.items():
        limit = positions(config, side)
        if limit is not None and tokens > limit:
            faults.append(f"{key}={tokens}: this {config.model_type} has {limit} positions; set it to {limit} or less")
    return faults
