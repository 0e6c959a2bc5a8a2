"""How a pretrained encoder-decoder begins: from the hub, a folder, or a checkpoint, which is such a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import datasets
import torch

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.subwords import Subwords
from rlsum.models import lora, pretrained
from rlsum.models.seq2seq import Seq2Seq
from rlsum.models.sizes import ModelConfig, Seq2SeqConfig
from rlsum.models.token_rules import TokenRules
from rlsum.training import checkpoint

TRIAL = ("the old mill burned down on Monday night , and fire crews came late .", "the council will vote .")
TOLERANCE = 1e-2  # nats: float32 sums in another order stay far below


def check(config: Config, init: Path | None) -> None:
    """Raise ConfigError with every fault of a run that could not start so. ``init`` is a checkpoint folder."""
    section = _section(config) if init is None else fitting_section(init, config.model)
    faults = _data_faults(config)
    origin = section.pretrained if init is None else str(init)
    lacking = pretrained.folder_faults(origin)
    if not lacking:
        sizes = pretrained.load_config(origin)
        asked = {
            "data.max_source": ("source", config.data.max_source),
            "data.max_target": ("target", config.data.max_target),
            "decoding.max_length": ("target", config.decoding.max_length),
        }
        lacking = pretrained.length_faults(sizes, asked)
        lacking += lora.faults(section.lora, sizes) if section.lora is not None else []
        lacking += pretrained.attention_faults(sizes, section.global_attention)
        lacking += pretrained.checkpointing_faults(sizes) if section.gradient_checkpointing else []
        lacking += _text_faults(config, origin)
    if faults + lacking:
        raise ConfigError("\n".join([f"{len(faults + lacking)} fault(s)", *(f"  {line}" for line in faults + lacking)]))


def _text_faults(config: Config, origin: str) -> list[str]:
    """Why a tokenizer and the rules beside it could not make articles and references."""
    tokenizer = pretrained.load_tokenizer(origin)
    rules = TokenRules.of(pretrained.load_generation_config(origin), tokenizer.pad_token_id)
    own, faults = tokenizer.num_special_tokens_to_add(), []
    if config.data.max_source <= own:
        faults.append(f"data.max_source={config.data.max_source}: the tokenizer's own {own} leave none for words")
    if config.data.max_target == 1 and rules.forced_first is not None:
        faults.append("data.max_target=1: a text's first token is forced, so that none would be learnt; raise it")
    if not {*tokenizer(text_target=TRIAL[1])["input_ids"]} & {*rules.ends}:
        faults.append(
            f"model.pretrained={origin}: its tokenizer ends no text with an eos_token_id of generation_config.json "
            f"({', '.join(map(str, rules.ends))}), so that the model would learn never to end; have it add one "
            "(post_processor in tokenizer.json)"
        )
    return faults


def _data_faults(config: Config) -> list[str]:
    faults = []
    if config.data.tokenizer != "whitespace":
        faults.append(
            f"data.tokenizer={config.data.tokenizer}: a pretrained model reads raw text with its own; leave it out"
        )
    if config.vocabulary.embeddings is not None:
        faults.append(
            f"vocabulary.embeddings={config.vocabulary.embeddings}: a pretrained model has its own; leave it out"
        )
    return faults


def anew(config: Config, train: Corpus) -> Seq2Seq:
    """The pretrained weights."""
    section = _section(config)
    return _on_policy(config, built(config, section, section.pretrained))


def initialised(config: Config, folder: Path) -> Seq2Seq:
    """The tokenizer, sizes and weights of a checkpoint."""
    return _on_policy(config, built(config, fitting_section(folder, config.model), str(folder)))


def _on_policy(config: Config, model: Seq2Seq) -> Seq2Seq:
    """The model. Raises ConfigError where rewards would teach it by probabilities that its samples do not have."""
    if not config.objective.rewarded:
        return model
    texts = {"id": ["0", "1"], "source": list(TRIAL), "references": [[TRIAL[1]]] * 2}
    batch = model.collate(model.read(datasets.Dataset.from_dict(texts), 16, 16)[:2])
    with torch.random.fork_rng(devices=[]):  # a run's random numbers stay its own
        torch.manual_seed(0)
        gap = model.disagreement(batch, min(8, config.decoding.max_length))
    if not gap < TOLERANCE:
        raise ConfigError(
            f"model.pretrained={model.config.pretrained}: its samples have other log-probabilities when they are "
            f"scored (up to {gap:.2g} apart), so that objective.kind={config.objective.kind} would learn from texts it "
            f"does not write; train this {model.network.config.model_type} with objective.kind=mle, or choose another"
        )
    return model


def resumed(config: Config, folder: Path) -> Seq2Seq:
    """A model that a run's state fits; ``folder`` is the run's checkpoint."""
    return built(config, _section(config), str(folder))


def load(folder: Path, section: ModelConfig | None = None) -> Seq2Seq:
    """The model of a checkpoint folder, with low-rank updates merged."""
    config = checkpoint.read_config(folder)
    return built(config, replace(fitting_section(folder, section), lora=None), str(folder))


def fitting_section(folder: Path, section: ModelConfig | None) -> Seq2SeqConfig:
    """``section``, by default the stored one without its low-rank updates, which are merged into the weights.

    Raises ConfigError where it names another model or another way to read and write texts.
    """
    stored = _section(checkpoint.read_config(folder))
    if section is None:
        return replace(stored, dropout=None, lora=None)
    texts = ("kind", "pretrained", "prefix", "line_break")
    if any(getattr(section, name, None) != getattr(stored, name) for name in texts):
        raise ConfigError(
            f"model: {section} does not fit the weights in {folder}, which are {stored}; drop the section"
        )
    assert section.kind == "seq2seq"
    return section


def built(config: Config, section: Seq2SeqConfig, origin: str) -> Seq2Seq:
    """The model that lies at ``origin``; what dropout means by default depends on the objective."""
    if section.dropout is None:  # sampling and scoring must agree
        section = replace(section, dropout=not config.objective.rewarded)
    words = Subwords(pretrained.load_tokenizer(origin), section.prefix, section.line_break)
    network = pretrained.load_network(origin, bool(section.dropout))
    smoothed = config.objective.label_smoothing > 0
    return Seq2Seq(section, network, pretrained.load_config(origin), words, config.decoding, smoothed)


def _section(config: Config) -> Seq2SeqConfig:
    assert config.model is not None  # build has chosen this file by it
    assert config.model.kind == "seq2seq"
    return config.model
