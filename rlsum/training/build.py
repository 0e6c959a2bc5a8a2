"""From a configuration to a trainer, or back into one that was stopped."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from rewards.text.identification import read_as_english
from rlsum import config as configs
from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus, load_corpus
from rlsum.data.counts import token_counts
from rlsum.data.sources import check_path
from rlsum.errors import option
from rlsum.files import write_atomically
from rlsum.models.summarizer import Model
from rlsum.training import checkpoint
from rlsum.training.log.monitor import check_logs
from rlsum.training.log.trackers import start_trackers
from rlsum.training.parallel import launch
from rlsum.training.parallel.processes import Processes
from rlsum.training.start import environment
from rlsum.training.start.origin import (
    Origin,
    check_files,
    check_start,
    keeps_start,
    model_section,
    start_of,
    start_scorer,
)
from rlsum.training.start.scorers import check_columns, check_rewards, rewards_of
from rlsum.training.steps import training_step
from rlsum.training.trainer import Trainer

log = logging.getLogger(__name__)


def trainer(config: Config, init: Path | None = None, resume: bool = False) -> Trainer:
    """Everything a run needs, from its configuration; cheap checks come first.

    ``init`` is a checkpoint to start from: its vocabulary, sizes and weights. With ``resume`` the run folder must hold
    a state to continue from. Raises ConfigError, CorpusError, RewardError or CheckpointError.
    """
    run, origin = Path(config.run), Origin.of(config, init, resume)
    check_rewards(config)
    metrics, reward, choice = rewards_of(config, model_section(config, origin))
    check_columns(config, metrics)
    config = _checked(config, origin)
    accelerator = launch.new_accelerator(config.training, run)
    processes = Processes.of(accelerator)
    with processes.main_first():
        lock: AbstractContextManager[object] = _claim(run, resume) if processes.rank == 0 else nullcontext()
    signatures = {name: metric.signature for name, metric in metrics.items()}  # reads vectors and encoders
    with processes.main_first():
        train, valid = corpus(config, "train"), corpus(config, "valid")
    torch.manual_seed(config.training.seed)
    model = start_of(config, origin).model(config, origin, train)
    model.smoothed = config.objective.label_smoothing > 0
    facts = environment.dependencies(train, valid, processes) | model.depends_on()
    _check_dependencies(config, signatures, facts, train, processes, resume)
    config = replace(config, model=model.config)  # later runs may resolve names differently
    train_rows = model.read(train.rows, config.tokenization)
    if not resume:
        config = with_divisor(config, token_counts(train_rows, "tgt_tokens"))
        if processes.rank == 0:
            _describe(config, model, facts | {"init": environment.init_digest(origin.checkpoint)})
    start = start_scorer(config, model, origin, accelerator.device)
    result = Trainer(
        config=config,
        accelerator=accelerator,
        model=model,
        train_rows=train_rows,
        valid_rows=model.read(valid.rows, config.tokenization),
        step=training_step(config, model, reward, start, processes),
        choice=choice,
        metrics=metrics,
        signatures=signatures,
        held=lock,
    )
    if resume:
        result.resume()
        if processes.rank == 0:
            _describe_steps(run, config.training.steps)
    start_trackers(config, accelerator, result.progress.step)
    return result


def _checked(config: Config, origin: Origin) -> Config:
    """The configuration with its tokenizer. Raises for what is wrong with files or keys; reads no weights."""
    if origin.resumed:
        check_logs(Path(config.run))
        if origin.checkpoint is not None:
            check_files(origin.checkpoint, Path(config.run) / checkpoint.STATE)
    else:
        check_start(config, origin)
        config = _with_tokenizer(config, origin)
    check_path(config.data.train, config.data.train_split)
    check_path(config.data.valid, config.data.valid_split)
    return config


def _check_dependencies(
    config: Config,
    signatures: Mapping[str, str],
    facts: dict[str, Any],
    train: Corpus,
    processes: Processes,
    resume: bool,
) -> None:
    """Raise CheckpointError where what a resumed run depends on has changed."""
    if resume:
        if keeps_start(config):
            facts["start"] = checkpoint.start_digest(Path(config.run))
        environment.check_unchanged(Path(config.run), signatures, facts)
    elif processes.rank == 0:
        written = (references[0] if references else "" for references in train.rows["references"])
        for line in read_as_english(signatures, written, "language: "):
            log.warning("%s: %s", config.run, line)


def _with_tokenizer(config: Config, origin: Origin) -> Config:
    """The configuration with the tokenizer of its data, which may depend on the kind of the model of ``--init``."""
    section = model_section(config, origin)
    return replace(config, data=replace(config.data, tokenizer=replace(config, model=section).tokenizer))


def _claim(run: Path, resume: bool) -> IO[bytes]:
    lock = checkpoint.claim(run)
    if not resume and (run / checkpoint.STATE).exists():
        lock.close()
        raise ConfigError(
            f"run={run}: holds a run already; continue it with {option('resume', run)}, or choose another run="
        )
    return lock


def _describe(config: Config, model: Model, facts: Mapping[str, Any]) -> None:
    run = Path(config.run)
    if keeps_start(config):
        checkpoint.save_start(run, model)
        facts = {**facts, "start": checkpoint.start_digest(run)}
    write_atomically(run / checkpoint.CONFIG, configs.dump(config).encode())
    write_atomically(run / environment.ENVIRONMENT, environment.describe(facts))


def with_divisor(config: Config, lengths: ArrayLike) -> Config:
    """The configuration with a number as the divisor of the constant normalisation: the references' mean tokens.

    A sample as long as a reference then weighs as much as under the other normalisations. At most the tokens that a
    sample may have. ``lengths`` are those of the targets of the training articles, (n,).
    """
    objective = config.objective
    if objective.kind != "mixed" or objective.normalisation != "constant" or objective.divisor is not None:
        return config
    tokens = float(np.asarray(lengths).mean())
    divisor = max(1.0, round(min(tokens, config.samples_from.limit), 1))
    return replace(config, objective=replace(objective, divisor=divisor))


def _describe_steps(run: Path, steps: int) -> None:
    """Write the number of updates of a run that is trained on into its configuration, and into that of its best."""
    for path in (run / checkpoint.CONFIG, run / "best" / checkpoint.CONFIG):
        stored = configs.load(path)
        if stored.training.steps != steps:
            longer = replace(stored, training=replace(stored.training, steps=steps))
            write_atomically(path, configs.dump(longer).encode())


# ---- articles ------------------------------------------------------------------------------------------------------


def corpus(config: Config, part: str) -> Corpus:
    """The training or validation articles of a configuration (``part``: train, valid)."""
    path, split, limit = (getattr(config.data, name) for name in (part, f"{part}_split", f"{part}_limit"))
    return load_corpus(
        path, *config.reading, split=split, limit=limit, seed=config.training.seed, num_proc=config.data.num_proc
    )
