"""A pretrained summarizer without a run: its options for reading and decoding come from its own files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from rlsum.config import Config, DataConfig, Training
from rlsum.errors import UserError, option
from rlsum.generation.options import Generating
from rlsum.models.decoding import IN_TRANSFORMERS, Decoding
from rlsum.models.pretrained import loading
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import CausalConfig, PretrainedConfig, Seq2SeqConfig
from rlsum.models.pretrained.token_rules import unfollowed
from rlsum.training.checkpoint import CheckpointError
from rlsum.training.start import causal, seq2seq
from rlsum.training.start.pretrained import section_of

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

MAX_SOURCE = 1024  # tokens of an article if neither the network nor the tokenizer has a limit
MAX_PROMPTED = 4096  # tokens of an article in a prompt, if the network has room for them
STARTS = {"seq2seq": seq2seq.START, "causal": causal.START}
UNLIMITED = 10**9  # 10**30 in tokenizers without a limit


def configuration(name: str, how: Generating) -> tuple[Config, list[str]]:
    """A run's configuration for a folder that ``save_pretrained`` wrote, or for a name on the hub; reads no weights.

    Options that are not given come from ``task_specific_params`` for summarization (such as T5's prefix), else from the
    generation config, else from rlsum's defaults. Also returns the settings that are not followed, as ``key=value``.

    Raises CheckpointError for anything else, UserError if ``how.max_source`` exceeds the model's positions.
    """
    sizes, tokenizer, settings = _read(name)
    configured = _causal if loading.family_of(sizes) is loading.CAUSAL else _seq2seq
    return configured(name, how, sizes, tokenizer, settings), unfollowed(settings)


def _seq2seq(
    name: str, how: Generating, sizes: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase, settings: dict[str, Any]
) -> Config:
    _check_own(how, ("prompt",), "an encoder-decoder")
    global_attention, line_break = how.global_attention, how.line_break
    if faults := loading.attention_faults(sizes, global_attention or "none"):
        raise UserError(faults[0].replace("model.global_attention=", option("global_attention", "")))
    if global_attention is None:  # on the first token in summaries of LED: Beltagy et al. 2020
        global_attention = "none" if loading.attention_faults(sizes, "first") else "first"
    if line_break is None:
        line_break = "<n>" if "<n>" in tokenizer.get_vocab() else " "
    limits = [limit for limit in (loading.positions(sizes, "source"), tokenizer.model_max_length) if limit is not None]
    max_source = how.max_source or min((limit for limit in limits if limit < UNLIMITED), default=MAX_SOURCE)
    section = Seq2SeqConfig(
        pretrained=name,
        prefix=settings.get("prefix", "") if how.prefix is None else how.prefix,
        line_break=line_break,
        global_attention=global_attention,
    )
    _check_positions(sizes, "max_source", "source", max_source)
    return _config(section, max_source, decoding_from(settings, loading.positions(sizes, "target")))


def _causal(
    name: str, how: Generating, sizes: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase, settings: dict[str, Any]
) -> Config:
    """Greedy by default, as in transformers, whose max_length counts the prompt, too."""
    _check_own(how, ("prefix", "line_break", "global_attention"), "a language model")
    template: Literal["chat", "plain"] = "plain" if tokenizer.chat_template is None else "chat"
    try:
        section = CausalConfig(pretrained=name, template=template, prompt=how.prompt).resolved()
    except ValidationError as error:
        reason = error.errors()[0]["msg"].partition(": ")[2]
        raise UserError(f"{option('prompt', how.prompt)}: {reason}") from error
    decoded = decoding_from({"num_beams": 1, **settings, "max_length": None, "min_length": None})
    config = _config(section, how.max_source or MAX_PROMPTED, decoded)
    room = loading.room(
        sizes, causal.START.subwords(config, section, name).around, how.max_length or decoded.max_length
    )
    if how.max_source is None and room is not None:
        config = _config(section, max(1, min(room, MAX_PROMPTED)), decoded)
    return config


def _config(section: PretrainedConfig, max_source: int, decoding: Decoding) -> Config:
    data = DataConfig(train="-", valid="-", max_source=max_source)  # no corpus to train on
    return Config(run=section.pretrained, data=data, training=Training(steps=1), model=section, decoding=decoding)


def _check_own(how: Generating, others: tuple[str, ...], what: str) -> None:
    for name, value in how.given(*others).items():
        raise UserError(f"{option(name, value)}: not with {what}; leave it out")


def load(config: Config) -> TransformersModel:
    """The model of a ``configuration``."""
    section = section_of(config)
    return STARTS[section.kind].built(config, section, section.pretrained)


def decoding_from(settings: dict[str, Any], most: int | None = None) -> Decoding:
    """Beam search with the options of transformers' ``settings``; ``most`` limits the default maximum length.

    Without ``early_stopping`` a search stops as in transformers: false. Other settings that are left out are ours.
    transformers' max_length and min_length include the start token, ours do not. Raises UserError if the settings
    exclude each other.
    """
    ours = Decoding()
    values: dict[str, Any] = {name: settings.get(theirs) for name, theirs in IN_TRANSFORMERS.items()}
    values["early_stopping"] = settings.get("early_stopping", False)
    for name in ("max_length", "min_length"):
        if values[name] is None and settings.get(name) is not None:
            values[name] = max(0, settings[name] - 1)
    if values["max_length"] is None and most is not None:
        values["max_length"] = min(most, ours.max_length)
    values = {name: value for name, value in values.items() if value is not None}
    try:
        return replace(ours, **values).searching()
    except ValidationError as error:
        reasons = "; ".join(" ".join(map(str, (*fault["loc"], fault["msg"]))) for fault in error.errors())
        raise UserError(f"generation_config.json: {values} is invalid ({reasons}): correct the file") from error


def summary(config: Config, decoding: Decoding, ignored: list[str]) -> str:
    """One line about how the model reads and decodes. Raises UserError for texts longer than its positions."""
    section, sizes = section_of(config), loading.load_config(config.run, None)
    if isinstance(section, Seq2SeqConfig):
        _check_positions(sizes, "max_length", "target", decoding.max_length)
        texts = f"prefix {section.prefix!r}, line break {section.line_break!r}"
    else:
        around, tokens = STARTS[section.kind].subwords(config, section, config.run).around, config.data.max_source
        if faults := loading.prompt_faults(sizes, "max_source", tokens, around, decoding.max_length):
            raise UserError("\n".join(faults).replace(f"max_source={tokens}", option("max_source", tokens)))
        texts = f"in a prompt of {around} tokens"
    articles = f"articles of {config.data.max_source} tokens, {texts}"
    line = f"{section.pretrained}: pretrained model; {articles}; {decoding.in_words}"
    if isinstance(section, Seq2SeqConfig) and section.global_attention != "none":
        line += f"; global attention of the {section.global_attention} token"
    return line + (f"; not followed: {', '.join(ignored)}" if ignored else "")


def _read(name: str) -> tuple[PreTrainedConfig, PreTrainedTokenizerBase, dict[str, Any]]:
    """Sizes, tokenizer, and the decoding settings that are set."""
    try:
        if faults := loading.folder_faults(name):
            raise loading.PretrainedError("\n".join(faults))
        sizes = loading.load_config(name, None)
        tokenizer = loading.load_tokenizer(name)
        generation = loading.load_generation_config(name)
    except loading.PretrainedError as error:
        reason = str(error).replace(f"model.pretrained={name}: ", "  ")
        raise CheckpointError(
            f"{name}: neither a checkpoint of a run nor a pretrained model; give a run folder, a checkpoint folder, a "
            f"folder that save_pretrained wrote, or a name on the hub\n{reason}"
        ) from error
    of_task = (getattr(sizes, "task_specific_params", None) or {}).get("summarization", {})
    settings = {key: value for key, value in generation.to_dict().items() if value is not None}
    return sizes, tokenizer, {**settings, **of_task}


def _check_positions(sizes: PreTrainedConfig, name: str, side: str, tokens: int) -> None:
    if faults := loading.length_faults(sizes, {name: (side, tokens)}):
        raise UserError("\n".join(faults).replace(f"{name}={tokens}", option(name, tokens)))
