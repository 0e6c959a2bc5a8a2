"""How a pointer-generator begins: words counted in the training articles, sizes from the ``model`` section."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

import rewards
from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.embeddings import check_embeddings, initial_embeddings
from rlsum.data.vocabulary import SPECIALS, VOCABULARY, Vocabulary
from rlsum.models.pointer_generator import PointerGenerator
from rlsum.models.sizes import ModelConfig, PointerGeneratorConfig
from rlsum.training import checkpoint


def check(config: Config, init: Path | None) -> None:
    """Raise ConfigError where a run could not start so. ``init`` is a checkpoint folder."""
    if config.objective.label_smoothing > 0:
        raise ConfigError(
            f"objective.label_smoothing={config.objective.label_smoothing}: a pointer-generator has other words for "
            "every article, so there is no even share of them; leave it out, or train a model of kind: seq2seq"
        )
    if init is not None:
        fitting_sizes(init, config.model)
        if config.vocabulary.embeddings is not None:
            raise ConfigError(
                f"vocabulary.embeddings={config.vocabulary.embeddings}: --init brings its own embeddings; add "
                "vocabulary.embeddings=null"
            )
    elif config.vocabulary.embeddings is not None:
        try:
            check_embeddings(config.vocabulary.embeddings, _sizes(config).embedding)
        except rewards.RewardError as error:
            raise ConfigError(f"vocabulary.embeddings: {error}") from error


def anew(config: Config, train: Corpus) -> PointerGenerator:
    """Random weights, or word vectors for the embeddings."""
    texts = (tokens for column in ("src_tokens", "tgt_tokens") for tokens in train.rows[column])
    vocabulary = Vocabulary.build(texts, config.vocabulary.size, config.vocabulary.min_count)
    model = PointerGenerator(_sizes(config), vocabulary)
    if config.vocabulary.embeddings is not None:
        words = vocabulary.words[len(SPECIALS) :]
        table, _ = initial_embeddings(words, model.config.embedding, config.vocabulary.embeddings, config.training.seed)
        with torch.no_grad():
            model.embed.weight[len(SPECIALS) :] = torch.from_numpy(table)
    return model


def initialised(config: Config, folder: Path) -> PointerGenerator:
    """The words, sizes and weights of a checkpoint."""
    stored = _sizes(checkpoint.read_config(folder))
    # sampling and scoring must agree, so where samples teach nothing is dropped unless the model section says so
    sizes = config.model or (replace(stored, dropout=0.0) if config.objective.rewarded else stored)
    return load(folder, sizes)


def resumed(config: Config, folder: Path) -> PointerGenerator:
    """A model that a run's state fits; ``folder`` is the run's checkpoint."""
    return PointerGenerator(_sizes(config), Vocabulary.load(folder / VOCABULARY))


def load(folder: Path, sizes: ModelConfig | None = None) -> PointerGenerator:
    """The model of a checkpoint folder. ``sizes`` may differ from the stored ones in dropout, and add coverage."""
    model = PointerGenerator(fitting_sizes(folder, sizes), Vocabulary.load(folder / VOCABULARY))
    weights, _ = checkpoint.read_weights(folder)
    checkpoint.put_weights(model, weights, folder, optional={"spent_weight"})  # coverage switched on late
    return model


def fitting_sizes(folder: Path, sizes: ModelConfig | None) -> PointerGeneratorConfig:
    """``sizes``, by default the stored ones. Raises ConfigError where the weights of the folder have others."""
    stored = _sizes(checkpoint.read_config(folder))
    sizes = sizes or stored
    if (
        not isinstance(sizes, PointerGeneratorConfig)
        or replace(sizes, dropout=stored.dropout, coverage=stored.coverage) != stored
        or stored.coverage > sizes.coverage
    ):
        raise ConfigError(f"model: {sizes} does not fit the weights in {folder}, which are {stored}; drop the section")
    return sizes


def _sizes(config: Config) -> PointerGeneratorConfig:
    assert config.model is None or config.model.kind == "pointer-generator"  # build has chosen this file by it
    return config.model or PointerGeneratorConfig()
