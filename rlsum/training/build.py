"""Config -> objects: the only place that turns names into things."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch

import rewards
from rewards.specs import as_spec
from rlsum.config import Config, ConfigError, RewardSpec
from rlsum.data.corpus import Corpus, load_corpus
from rlsum.data.sources import check_path
from rlsum.files import write_atomically
from rlsum.models.sizes import ModelConfig
from rlsum.training import checkpoint
from rlsum.training.parallel import launch
from rlsum.training.parallel.processes import Processes
from rlsum.training.rewarded import training_step
from rlsum.training.start import kept
from rlsum.training.trainer import Trainer

if TYPE_CHECKING:
    import datasets

    from rewards.base import Reward
    from rlsum.models.seq2seq import Model

ENVIRONMENT = "environment.json"
PACKAGES = (
    "rlsum",
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "datasets",
    "accelerate",
    "pot",
    "spacy",
    "rouge-score",
    "numpy",
)


def trainer(config: Config, init: Path | None = None, resume: bool = False) -> Trainer:
    """Everything a run needs, from its configuration; cheap checks come first.

    ``init`` is a checkpoint whose vocabulary, sizes and weights the run starts from. With ``resume`` the run folder
    must hold a state to continue from. Raises ConfigError, CorpusError, RewardError or CheckpointError.
    """
    run = Path(config.run)
    check_names(config)
    metrics, reward = rewards_of(config)
    if not resume:
        check_start(config, init)
    check_path(config.data.train, config.data.train_split)
    check_path(config.data.valid, config.data.valid_split)
    accelerator = launch.accelerator(config.training, run)
    processes = Processes.of(accelerator)
    with processes.main_first():
        held: AbstractContextManager[object] = _claim(run, resume) if processes.rank == 0 else nullcontext()
    signatures = {name: metric.signature for name, metric in metrics.items()}  # reads vectors and encoders
    with processes.main_first():
        train, valid = corpus(config, "train"), corpus(config, "valid")
    facts = {
        "processes": processes.world_size,
        "articles": {"train": digest(train.rows), "valid": digest(valid.rows)},
    }
    if resume:
        start_now = {"start": checkpoint.start_digest(run)} if kept.is_kept(config) else {}
        check_unchanged(run, signatures, facts | start_now)
    model = start_model(config, train, None if resume else init, run if resume else None)
    # from here on the run has its own copy of everything that names could resolve to differently later
    config = replace(config, model=model.config)
    if processes.rank == 0 and not resume:
        if kept.is_kept(config):
            checkpoint.save_start(run, model)
            facts["start"] = checkpoint.start_digest(run)
        write_atomically(run / checkpoint.CONFIG, _yaml(config))
        write_atomically(run / ENVIRONMENT, environment(facts))
    start = kept.scorer(config, model, run if resume else None, accelerator.device)
    built = Trainer(
        config=config,
        accelerator=accelerator,
        model=model,
        train_rows=model.read(train.rows, config.data.max_source, config.data.max_target),
        valid_rows=model.read(valid.rows, config.data.max_source, config.data.max_target),
        step=training_step(config, model, reward, start, processes),
        select=_reward_value if reward is not None else _likelihood(config.objective.coverage_weight),
        metrics=metrics,
        signatures=signatures,
        held=held,
    )
    if resume:
        built.resume()
    launch.start_tracker(config.training, run, accelerator, built.progress.step)
    return built


def check_names(config: Config) -> None:
    """Raise for a reward that cannot be, before anything is loaded."""
    specs = [*config.metrics, *([config.objective.reward] if config.objective.reward is not None else [])]
    faults = []
    for spec in specs:
        try:
            rewards.check_spec(spec)
        except rewards.RewardError as error:
            faults.append(f"  {spec}: {error}")
    if config.training.reward_workers and as_spec(config.objective.reward or "none").name == "limited":
        faults.append("  training.reward_workers: the reward is limited(...) already, whose workers= says how many")
    if faults:
        raise ConfigError("rewards that cannot be used:\n" + "\n".join(faults))


def check_start(config: Config, init: Path | None) -> None:
    """Raise ConfigError where a run could not start so, or hardly means to."""
    folder = None if init is None else checkpoint.find(init)
    if folder is None and config.objective.rewarded and config.model is None:
        raise ConfigError(
            f"objective.kind={config.objective.kind} starts from a likelihood model: give --init RUN (or set model: "
            "... to start from random weights on purpose)"
        )
    _start_of(config, folder).check(config, folder)


def _start_of(config: Config, folder: Path | None) -> Any:
    """How the model of a configuration begins, or that of a checkpoint: the one place that knows the kinds."""
    model = config.model if folder is None else checkpoint.read_config(folder).model
    if model is None or model.kind == "pointer-generator":
        from rlsum.training.start import pointer_generator

        return pointer_generator
    from rlsum.training.start import seq2seq

    return seq2seq


def check_unchanged(run: Path, signatures: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Raise CheckpointError unless a run's rewards, articles and processes are those it began with."""
    environment = checkpoint.read_json(run / ENVIRONMENT)
    recorded = {name: environment.get(name, fact) for name, fact in facts.items()}  # older runs did not record them
    then = _dependencies(checkpoint.read_json(run / "best" / checkpoint.REWARDS), recorded)
    now = _dependencies(signatures, facts)
    changed = [
        f"  {name}: {then.get(name)} then, {now.get(name)} now"
        for name in then | now
        if then.get(name) != now.get(name)
    ]
    if changed:
        raise checkpoint.CheckpointError(
            f"--resume {run}: what the run depends on has changed; put it back, or start a new run with --init {run}\n"
            + "\n".join(changed)
        )


def _dependencies(signatures: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{f"reward {name}": signature for name, signature in signatures.items()},
        **{f"articles of data.{part}": value for part, value in facts["articles"].items()},
        "processes": facts["processes"],
        "the start, which the KL penalty measures from": facts.get("start"),
    }


def digest(rows: datasets.Dataset) -> str:
    """Sixteen hex digits that change with any text of the rows, or their order."""
    hashed = hashlib.sha256()
    for batch in rows.select_columns(["id", "source", "references"]).iter(1000):
        hashed.update(json.dumps(batch).encode())
    return hashed.hexdigest()[:16]


def corpus(config: Config, part: str) -> Corpus:
    """The training or validation articles of a configuration (``part``: train, valid)."""
    data = config.data
    return load_corpus(
        data.train if part == "train" else data.valid,
        split=data.train_split if part == "train" else data.valid_split,
        limit=data.train_limit if part == "train" else data.valid_limit,
        seed=config.training.seed,
        **reading(config),
    )


def reading(config: Config) -> dict[str, Any]:
    """How a configuration reads any corpus: columns, tokens, lengths."""
    data = config.data
    return {
        "id_column": data.id_column,
        "source_column": data.source_column,
        "reference_column": data.reference_column,
        "tokenizer": data.tokenizer,
        "lowercase": data.lowercase,
        "max_source": data.max_source,
        "max_target": data.max_target,
        "num_proc": data.num_proc,
    }


def start_model(config: Config, train: Corpus, init: Path | None, run: Path | None) -> Model:
    """A new model; or a checkpoint's words, sizes and weights; or a run's own sizes, to be resumed."""
    torch.manual_seed(config.training.seed)
    if run is not None:
        return _start_of(config, None).resumed(config, run / "best")
    if init is not None:
        folder = checkpoint.find(init)
        return _start_of(config, folder).initialised(config, folder)
    return _start_of(config, None).anew(config, train)


def load_model(folder: Path, section: ModelConfig | None = None) -> Model:
    """The model of a checkpoint folder. ``section`` may differ from the stored one where the weights still fit."""
    return _start_of(checkpoint.read_config(folder), None).load(folder, section)


def rewards_of(config: Config) -> tuple[dict[str, Reward], Reward | None]:
    """Validation's rewards by name, and the training reward, which is among them under ``reward``."""
    metrics = rewards.from_specs(list(config.metrics))
    if not config.objective.rewarded:
        return metrics, None
    reward = rewards.from_spec(_reward_spec(config))
    return {**metrics, "reward": reward}, reward


def _reward_spec(config: Config) -> RewardSpec:
    """The reward that trains, in processes of its own where the configuration asks for them."""
    spec, training = config.objective.reward, config.training
    assert spec is not None  # Objective has checked it
    if training.reward_workers == 0:
        return spec
    return {"name": "limited", "reward": spec, "seconds": training.reward_seconds, "workers": training.reward_workers}


def environment(more: Mapping[str, Any]) -> bytes:
    """What the run ran on, and ``more``, as JSON."""
    versions = {d.name.lower().replace("_", "-"): d.version for d in distributions()}
    versions["torch"] = torch.__version__  # names the build, too: +cpu, +cu130
    facts = {
        "command": sys.argv,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "packages": {name: versions.get(name) for name in PACKAGES},
        **more,
    }
    return (json.dumps(facts, indent=2) + "\n").encode()


def _claim(run: Path, resume: bool) -> IO[bytes]:
    held = checkpoint.claim(run)
    if not resume and (run / checkpoint.STATE).exists():
        held.close()
        raise ConfigError(f"run={run}: holds a run already; continue it with --resume {run}, or choose another run=")
    return held


def _reward_value(values: Mapping[str, float]) -> float:
    """Clark et al. 2019, A.3: mixed models are selected by the highest validation reward."""
    return values["reward"]


def _likelihood(coverage_weight: float) -> Callable[[Mapping[str, float]], float]:
    """Clark et al. 2019, A.3: likelihood models are selected by the lowest validation cross-entropy.

    With coverage, by the lowest loss: it costs cross-entropy, so the start of its training would always stay the best.
    """
    return lambda values: -(values["nll"] + coverage_weight * values.get("coverage", 0.0))


def _yaml(config: Config) -> bytes:
    from rlsum import config as configs

    return configs.dump(config).encode()
