"""How a pretrained encoder-decoder starts: from the hub, a folder, or a checkpoint, which is such a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import datasets
import torch

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.subwords import Subwords
from rlsum.models.options import ModelConfig
from rlsum.models.pretrained import loading, lora
from rlsum.models.pretrained.options import Seq2SeqConfig
from rlsum.models.pretrained.seq2seq import Seq2Seq
from rlsum.models.pretrained.token_rules import TokenRules
from rlsum.training.checkpoint import Checkpoint
from rlsum.training.start.origin import Origin

TRIAL = ("the old mill burned down on Monday night , and fire crews came late .", "the council will vote .")
TOLERANCE = 1e-2  # nats; float32 sums in another order differ far less


def check(config: Config, origin: Origin) -> None:
    """See Start.check. The error lists every fault."""
    section, name = _start(config, origin)
    faults = _data_faults(config)
    lacking = loading.folder_faults(name)
    if not lacking:
        sizes = loading.load_config(name)
        asked = {
            "data.max_source": ("source", config.data.max_source),
            "data.max_target": ("target", config.data.max_target),
            "decoding.max_length": ("target", config.decoding.max_length),
            "sampling.max_length": ("target", config.samples_from.limit),
        }
        lacking = loading.length_faults(sizes, asked)
        lacking += lora.faults(section.lora, sizes) if section.lora is not None else []
        lacking += loading.attention_faults(sizes, section.global_attention)
        lacking += loading.checkpointing_faults(sizes) if section.gradient_checkpointing else []
        lacking += _text_faults(config, name)
    if faults + lacking:
        raise ConfigError("\n".join([f"{len(faults + lacking)} fault(s)", *(f"  {line}" for line in faults + lacking)]))


def check_files(folder: Path) -> None:
    """See Start.check_files: transformers names what it cannot read when it loads a model."""


def _text_faults(config: Config, name: str) -> list[str]:
    """Why the tokenizer and its token rules could not read articles and references."""
    tokenizer = loading.load_tokenizer(name)
    rules = TokenRules.of(loading.load_generation_config(name), tokenizer.pad_token_id)
    special, faults = tokenizer.num_special_tokens_to_add(), []
    if config.data.max_source <= special:
        faults.append(
            f"data.max_source={config.data.max_source}: the tokenizer adds {special} special tokens, which leaves none "
            "for words; raise it"
        )
    if config.data.max_target == 1 and rules.forced_first is not None:
        faults.append("data.max_target=1: the first token of a text is forced, so nothing would be learnt; raise it")
    if not {*tokenizer(text_target=TRIAL[1])["input_ids"]} & {*rules.ends}:
        faults.append(
            f"model.pretrained={name}: the tokenizer does not end texts with an eos_token_id of generation_config.json "
            f"({', '.join(map(str, rules.ends))}), so the model would never learn to stop; make it add one "
            "(post_processor in tokenizer.json)"
        )
    return faults


def _data_faults(config: Config) -> list[str]:
    faults = []
    if config.data.tokenizer not in (None, "whitespace"):
        faults.append(f"data.tokenizer={config.data.tokenizer}: a pretrained model has its own tokenizer; leave it out")
    if config.data.lowercase:
        faults.append("data.lowercase=true: a pretrained model reads texts as they are written; leave it out")
    if config.vocabulary.embeddings is not None:
        faults.append(
            f"vocabulary.embeddings={config.vocabulary.embeddings}: a pretrained model has embeddings; leave it out"
        )
    return faults


def model(config: Config, origin: Origin, train: Corpus) -> Seq2Seq:
    """See Start.model."""
    section, name = _start(config, origin)
    return built(config, section, name) if origin.resumed else _on_policy(config, built(config, section, name))


def vocabulary(config: Config, train: Corpus) -> Subwords:
    """See Start.vocabulary: the model's own tokenizer."""
    section = section_of(config)
    return _subwords(section, section.pretrained)


def _subwords(section: Seq2SeqConfig, name: str) -> Subwords:
    return Subwords(loading.load_tokenizer(name), section.prefix, section.line_break)


def _start(config: Config, origin: Origin) -> tuple[Seq2SeqConfig, str]:
    """The resolved ``model`` section, and the folder or hub name of weights and tokenizer."""
    if origin.checkpoint is None:
        section = section_of(config)
        return section, section.pretrained
    section = section_of(config) if origin.resumed else _fitting_section(origin.checkpoint, config.model)
    return section, str(origin.checkpoint.folder)


def _on_policy(config: Config, model: Seq2Seq) -> Seq2Seq:
    """The model. Raises ConfigError if a reward would train it on other log-probabilities than it samples with."""
    if not config.objective.rewarded:
        return model
    texts = {"id": ["0", "1"], "source": list(TRIAL), "references": [[TRIAL[1]]] * 2}
    batch = model.collate(model.read(datasets.Dataset.from_dict(texts), 16, 16)[:2])
    with torch.random.fork_rng(devices=[]):  # leaves the run's random numbers alone
        torch.manual_seed(0)
        sampling = config.samples_from
        most = min(sampling.limit, max(8, sampling.min_length + 1))
        gap = model.disagreement(batch, replace(sampling, max_length=most))
    if not gap < TOLERANCE:
        raise ConfigError(
            f"model.pretrained={model.config.pretrained}: log-probabilities of its samples differ by up to {gap:.2g} "
            f"between sampling and scoring, so objective.kind={config.objective.kind} would be off-policy; train this "
            f"{model.network.config.model_type} with objective.kind=mle, or choose another model"
        )
    return model


def load(checkpoint: Checkpoint, section: ModelConfig | None = None) -> Seq2Seq:
    """See Start.load. Low-rank updates are merged."""
    merged = replace(_fitting_section(checkpoint, section), lora=None)
    return built(checkpoint.config, merged, str(checkpoint.folder))


def _fitting_section(checkpoint: Checkpoint, section: ModelConfig | None) -> Seq2SeqConfig:
    """``section``, by default the stored one without its low-rank updates, which are merged into the weights.

    Raises ConfigError if it names another model, or another way to read and write texts.
    """
    stored = section_of(checkpoint.config)
    if section is None:
        return replace(stored, dropout=None, lora=None)
    texts = ("kind", "pretrained", "prefix", "line_break")
    if any(getattr(section, name, None) != getattr(stored, name) for name in texts):
        raise ConfigError(
            f"model: {section} does not fit the weights in {checkpoint.folder}, which are {stored}; drop the section"
        )
    assert isinstance(section, Seq2SeqConfig)
    return section


def built(config: Config, section: Seq2SeqConfig, name: str) -> Seq2Seq:
    """The model of the folder or hub name ``name``; the default of dropout depends on the objective."""
    if section.dropout is None:  # with a reward, sampling and scoring must agree
        section = replace(section, dropout=not config.objective.rewarded)
    network = loading.load_network(name, bool(section.dropout))
    smoothed = config.objective.label_smoothing > 0
    return Seq2Seq(section, network, loading.load_config(name), _subwords(section, name), smoothed)


def section_of(config: Config) -> Seq2SeqConfig:
    """The ``model`` section of a configuration for this kind."""
    assert isinstance(config.model, Seq2SeqConfig)  # start_of has chosen this module
    return config.model
