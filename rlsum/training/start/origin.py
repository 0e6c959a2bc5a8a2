"""What the model of a run starts from, by its kind; and the frozen copy of it that a KL penalty measures from."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import torch

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.subwords import Subwords
from rlsum.data.vocabulary import Vocabulary
from rlsum.errors import option
from rlsum.models.kinds import KINDS, kind_of
from rlsum.models.options import ModelConfig
from rlsum.models.summarizer import WEIGHTS, Model, Scorer
from rlsum.training import checkpoint
from rlsum.training.checkpoint import Checkpoint


@dataclass(frozen=True)
class Origin:
    """What a run starts from: nothing (a new model), a checkpoint, or, if ``resumed``, the run's own checkpoint."""

    checkpoint: Checkpoint | None = None
    resumed: bool = False

    @classmethod
    def of(cls, config: Config, init: Path | None, resume: bool) -> Origin:
        """The origin that the command line asks for. Raises CheckpointError if there is no checkpoint at ``init``."""
        if resume:
            return cls(Checkpoint(Path(config.run) / "best", config), resumed=True)
        return cls(None if init is None else checkpoint.find(init))


class Start(Protocol):
    """How models of one kind start: ``START`` of the module that a row of ``rlsum.models.kinds.KINDS`` names."""

    def check(self, config: Config, origin: Origin) -> None:
        """Raise ConfigError if a run could not start; reads no weights."""

    def check_files(self, folder: Path) -> None:
        """Raise UserError for damaged files of a checkpoint other than its weights."""

    def vocabulary(self, config: Config, train: Corpus) -> Vocabulary | Subwords:
        """What a new model reads texts with; reads no weights."""

    def model(self, config: Config, origin: Origin, train: Corpus) -> Model:
        """The model of a run before its first update, or on resuming one to put the run's state into."""

    def load(self, checkpoint: Checkpoint, section: ModelConfig | None = None) -> Model:
        """The model of a checkpoint. ``section`` may differ from the stored one if the weights still fit."""


def start_of(config: Config, origin: Origin = Origin()) -> Start:
    """How the kind of model starts that the origin, or else the configuration, names."""
    section = config.model if origin.checkpoint is None else origin.checkpoint.config.model
    return cast(Start, import_module(KINDS[kind_of(section)].start).START)


def model_section(config: Config, origin: Origin) -> ModelConfig | None:
    """The model of a run, which may be that of ``--init``."""
    return config.model or (origin.checkpoint.config.model if origin.checkpoint else None)


def check_start(config: Config, origin: Origin) -> None:
    """Raise ConfigError if a run could not start, or seems to have forgotten --init."""
    if origin.checkpoint is None and config.objective.rewarded and config.model is None:
        raise ConfigError(
            f"objective.kind={config.objective.kind} starts from a likelihood model: give {option('init', 'RUN')} (or "
            "set model: ... to start from random weights on purpose)"
        )
    if config.objective.coverage_on_samples and not getattr(model_section(config, origin), "coverage", False):
        raise ConfigError(
            "objective.coverage_on_samples=True: the model has no coverage; set model.coverage=true, or leave it out"
        )
    if config.objective.draws_samples:
        _check_dropout(config)
    start_of(config, origin).check(config, origin)
    if origin.checkpoint is not None:
        check_files(origin.checkpoint)


def _check_dropout(config: Config) -> None:
    """Raise ConfigError for dropout where samples teach: they would be scored by another network than drew them."""
    for key, section in (("model", config.model), ("model.lora", getattr(config.model, "lora", None))):
        for name, rate in vars(section).items() if section is not None else ():
            if "dropout" in name and rate:
                raise ConfigError(
                    f"{key}.{name}={rate}: the samples of objective.kind={config.objective.kind} would have other "
                    f"log-probabilities when scored than when drawn; set {key}.{name}={'false' if rate is True else 0}"
                )


def check_files(stored: Checkpoint, weights: Path | None = None) -> None:
    """Raise UserError for damaged files of a checkpoint; reads no weights. ``weights``: a file in place of its own."""
    checkpoint.header(weights or stored.folder / WEIGHTS)
    start_of(stored.config).check_files(stored.folder)


def load_model(stored: Checkpoint, section: ModelConfig | None = None) -> Model:
    """The model of a checkpoint. ``section`` may differ from the stored one if the weights still fit."""
    return start_of(stored.config).load(stored, section)


def keeps_start(config: Config) -> bool:
    """Whether a run with this resolved configuration keeps a copy of its start in its folder.

    With low-rank updates it does not: the start is the network without them.
    """
    return config.objective.needs_start and getattr(config.model, "lora", None) is None


def start_scorer(config: Config, model: Model, origin: Origin, device: torch.device) -> Scorer | None:
    """Scores of the start, without gradient; None if the objective does not need it.

    The weights of ``model`` are the start, except on resuming: then the run folder holds it.
    """
    if not config.objective.needs_start:
        return None
    if (frozen := model.frozen()) is not None:
        return frozen
    start = copy.deepcopy(model)
    if origin.resumed:
        checkpoint.load_start(Path(config.run), start)
    return torch.no_grad()(start.to(device).eval().requires_grad_(False))
