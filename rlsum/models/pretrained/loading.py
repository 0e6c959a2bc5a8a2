"""Checks and loads pretrained models of transformers. Every fault names its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.modules.dropout import _DropoutNd

from rewards.encoding.loading import wrong_with
from rlsum.errors import UserError

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

TOKENIZER_FILES = ("tokenizer.json", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt")
WEIGHT_FILES = ("*.safetensors", "pytorch_model*.bin")
GENERATION, ADAPTER = "generation_config.json", "adapter_config.json"
UNMERGED = (  # transformers would load both, and checkpoints would have neither's names of weights
    f"holds low-rank updates of another model ({ADAPTER}); merge them with peft's merge_and_unload(), and save the "
    "result with its tokenizer"
)
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
    if (folder / ADAPTER).is_file():
        return [f"{key}: {UNMERGED}"]
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


class Family(NamedTuple):
    """What an auto class of transformers loads.

    kind     of our models
    what     such a model is, in a sentence
    auto     the class
    mapping  of ``modeling_auto``, from sizes to networks; with _NAMES, from model types
    task     its name in peft
    """

    kind: str
    what: str
    auto: str
    mapping: str
    task: str

    @property
    def loader(self) -> Any:
        """The auto class."""
        import transformers

        return getattr(transformers, self.auto)

    def network(self, config: PreTrainedConfig) -> Any:
        """The class of networks of these sizes."""
        from transformers.models.auto import modeling_auto

        return getattr(modeling_auto, self.mapping)[type(config)]

    def empty(self, config: PreTrainedConfig) -> PreTrainedModel:
        """A network of these sizes without memory for its weights."""
        with torch.device("meta"):
            network: PreTrainedModel = self.loader.from_config(config)
        return network


SEQ2SEQ = Family(
    "seq2seq", "an encoder-decoder", "AutoModelForSeq2SeqLM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING", "SEQ_2_SEQ_LM"
)
CAUSAL = Family(
    "causal", "a language model without an encoder", "AutoModelForCausalLM", "MODEL_FOR_CAUSAL_LM_MAPPING", "CAUSAL_LM"
)


def family_of(config: PreTrainedConfig) -> Family | None:
    """What a model is; None: an encoder alone, or something else than a model of texts."""
    from transformers.models.auto import modeling_auto as known

    if config.model_type in known.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return SEQ2SEQ
    encoders = known.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = config.model_type in known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and config.model_type not in encoders
    return CAUSAL if causal else None


def load_config(name: str, family: Family | None = SEQ2SEQ) -> PreTrainedConfig:
    """The architecture and its sizes; ``family``: what it must be, None: any that can be trained.

    Raises PretrainedError for other architectures, and for sparse attention that depends on other rows of a batch.
    """
    from transformers import AutoConfig

    with _explained(name):
        config = AutoConfig.from_pretrained(name)
    actual = family_of(config)
    if actual is None:
        raise PretrainedError(
            f"model.pretrained={name}: {config.model_type} writes no texts; rlsum trains encoder-decoders (kind: "
            "seq2seq), such as facebook/bart-base or google/mt5-small, and language models (kind: causal), such as "
            "Qwen/Qwen3-0.6B"
        )
    if family not in (None, actual):
        raise PretrainedError(
            f"model.pretrained={name}: {config.model_type} is {actual.what}; set model.kind={actual.kind}"
        )
    if getattr(config, "attention_type", None) == "block_sparse":  # BigBird; becomes full at a short batch
        raise PretrainedError(
            f"model.pretrained={name}: with attention_type=block_sparse, results depend on padding, on earlier batches "
            "and on training mode; save it with full attention: "
            f"AutoModelForSeq2SeqLM.from_pretrained({name!r}, attention_type='original_full').save_pretrained(FOLDER), "
            "and its tokenizer"
        )
    return config


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer. Raises PretrainedError if it has no padding token, which only a language model does without."""
    from transformers import AutoTokenizer

    family = family_of(load_config(name, None))
    with _explained(name):
        tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token_id is None and family is SEQ2SEQ:
        raise PretrainedError(f"model.pretrained={name}: its tokenizer has no padding token; add one and save it")
    return tokenizer


def load_generation_config(name: str) -> GenerationConfig:
    """The model's generation config, by default the decoding settings in an older config.json.

    Raises PretrainedError for settings that transformers refuses.
    """
    from transformers import GenerationConfig

    try:
        return GenerationConfig.from_pretrained(name)
    except OSError:  # no such file
        return GenerationConfig.from_pretrained(name, config_file_name="config.json", _from_model_config=True)
    except (ValueError, TypeError) as error:
        raise PretrainedError(f"model.pretrained={name}: {GENERATION}: {error} Correct the file") from error


def load_network(name: str, dropout: bool, family: Family = SEQ2SEQ) -> PreTrainedModel:
    """The network with float32 weights on the CPU; without ``dropout``, it is in training as in evaluation.

    Raises PretrainedError if it cannot be loaded, and for weights that are missing or not finite.
    """
    config = load_config(name, family)
    if not dropout:
        if noise := _lasting_noise(config):
            raise PretrainedError(
                f"model.pretrained={name}: its {noise} cannot be switched off without other outputs; set "
                "model.dropout=true"
            )
        for sizes, key, rate in _at_random(config):
            if rate:  # a type may refuse 0.0 where it has 0
                setattr(sizes, key, 0.0)
    with _explained(name):
        network, info = family.loader.from_pretrained(
            name, config=config, dtype=torch.float32, output_loading_info=True
        )
    if getattr(network, "_hf_peft_config_loaded", False):
        raise PretrainedError(f"model.pretrained={name}: {UNMERGED}")
    for place, module in network.named_modules():
        if place.startswith("decoder.") and place.endswith(".SelfAttention"):
            module.is_causal = True  # transformers 5.17 has False for UMT5, whose tokens then see later ones
    for module in () if dropout else network.modules():
        if isinstance(module, _DropoutNd):  # of whatever key
            module.p = 0.0
    learnt = _learnt(network)
    missing = sorted(learnt.keys() & info["missing_keys"])  # transformers draws them at random
    if missing:
        raise PretrainedError(
            f"model.pretrained={name}: {len(missing)} of its weights are missing ({missing[0]}, ...); save the whole "
            "model with save_pretrained"
        )
    if broken := [key for key, tensor in learnt.items() if not tensor.isfinite().all()]:
        raise PretrainedError(f"model.pretrained={name}: {broken[0]} is not finite; save the model again")
    loaded: PreTrainedModel = network
    return loaded


def dropout_rates(sizes: PreTrainedConfig) -> list[float]:
    """The rates of what an architecture does at random in training: dropout, and the noise of routers to experts."""
    return [rate for _, _, rate in _at_random(sizes)]


def _at_random(sizes: Any) -> list[tuple[Any, str, float]]:
    """Those rates with their keys and the sizes that have them, which may be within others."""
    rates = []
    for key, value in vars(sizes).items():
        if hasattr(value, "to_dict"):
            rates += _at_random(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and ("drop" in key or "jitter" in key):
            rates.append((sizes, key, float(value)))
    return rates


def _lasting_noise(config: PreTrainedConfig) -> str:
    """What is at random in training, and also part of evaluation; "" if nothing is."""
    if rate := getattr(config, "moe_token_dropout", 0.0):  # evaluation multiplies by the share that training keeps
        return f"moe_token_dropout={rate}"
    if config.model_type == "phimoe":  # draws experts, of those that are as good as the best but for the rate
        return f"router_jitter_noise={getattr(config, 'router_jitter_noise', 0.0)}"
    return ""


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
    except Exception as error:  # of a damaged file, any
        reason = wrong_with(name, error)
        sought = "" if Path(name).exists() else "no such folder, and from the hub it "
        raise PretrainedError(
            f"model.pretrained={name}: {sought}cannot be loaded ({reason}); give a folder that save_pretrained wrote, "
            "or a name on the hub that this machine can reach"
        ) from error


def positions(config: PreTrainedConfig, side: str) -> int | None:
    """Tokens that a ``source`` or ``target`` may have; None where positions are relative."""
    half: PreTrainedConfig = getattr(config, HALVES[side], config)
    for section in (config, half):
        places = next((size for name in POSITIONS[side] if (size := getattr(section, name, None)) is not None), None)
        if places is not None:
            return int(places) - (section.pad_token_id + 1 if section.model_type in AFTER_PADDING else 0)
    return None


def attention_faults(config: PreTrainedConfig, tokens: str) -> list[str]:
    """Why an architecture has no global attention for ``tokens`` of an article (none, first)."""
    if tokens == "none" or "global_attention_mask" in signature(SEQ2SEQ.network(config).forward).parameters:
        return []
    return [f"model.global_attention={tokens}: {config.model_type} attends to all tokens already; leave it out"]


def checkpointing_faults(config: PreTrainedConfig, family: Family = SEQ2SEQ) -> list[str]:
    """Why an architecture has no gradient checkpointing."""
    if family.network(config).supports_gradient_checkpointing:
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


def room(config: PreTrainedConfig, around: int, summary: int) -> int | None:
    """Tokens of an article that fit a language model beside its prompt and a summary; None: any number."""
    limit = positions(config.get_text_config(decoder=True), "target")
    return None if limit is None else limit - around - summary


def prompt_faults(config: PreTrainedConfig, key: str, article: int, around: int, summary: int) -> list[str]:
    """Why an article of so many tokens, the prompt around it and a summary exceed a language model's positions."""
    most = room(config, around, summary)
    if most is None or article <= most:
        return []
    advice = f"set it to {most} or less" if most > 0 else "shorten the summary"
    return [
        f"{key}={article}: with {around} tokens of the prompt and {summary} of a summary, this {config.model_type} has "
        f"{most + around + summary} positions; {advice}"
    ]
