"""What a run depends on and what it ran on: recorded at its start, compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import datasets
import torch

from rewards.specs import as_spec
from rlsum.config import Config, ConfigError, RewardSpec
from rlsum.data.corpus import Corpus
from rlsum.readers import json_object
from rlsum.training import checkpoint
from rlsum.training.parallel.processes import Processes

ENVIRONMENT = "environment.json"
INCOMPLETE = "give the folder of a complete run"
LEARNING = ("torch", "transformers", "tokenizers", "peft", "datasets", "accelerate")
PACKAGES = ("rlsum", *LEARNING, "pot", "spacy", "nltk", "numpy")

# What rewarded training does with a configuration. Increase it when the same configuration trains otherwise.
# 1: recorded by no run; the reward's loss was divided as the likelihood, coverage counted (1 - gamma)
# 2: the reward's loss and coverage have a weight of their own, samples are drawn from what decoding may write
OBJECTIVE = 2

# What a reward's name means. 1: ROUGE was not stemmed by default, and its signatures named rouge-score
REWARDS = 2
ROUGE = re.compile(r"(?<![\w/.-])(rouge-(?:1|2|3|lsum|l))(?![\w/.-])(?:\(([^()]*)\))?")
NAMED = re.compile(r"\|library:rouge-score-[^|\]]*")


def describe(facts: Mapping[str, Any]) -> bytes:
    """The machine, the packages and ``facts`` as JSON."""
    about = {
        "command": sys.argv,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "packages": {name: _version(name) for name in PACKAGES},
        "objective": OBJECTIVE,
        "rewards": REWARDS,
        **facts,
    }
    return (json.dumps(about, indent=2) + "\n").encode()


def _version(package: str) -> str | None:
    if package == "torch":
        return str(torch.__version__)  # with the build: +cpu, +cu130
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def dependencies(train: Corpus, valid: Corpus, processes: Processes) -> dict[str, Any]:
    """What must be the same when a run is resumed: the articles and the number of processes."""
    articles = {"train": digest(train.rows), "valid": digest(valid.rows)}
    return {"processes": processes.world_size, "articles": articles}


def digest(rows: datasets.Dataset) -> str:
    """Sixteen hex digits that change with any text or further column of the rows, or their order."""
    hashed = hashlib.sha256()
    names = [name for name in ("id", "source", "references", "columns") if name in rows.column_names]
    for batch in rows.select_columns(names).iter(1000):
        hashed.update(json.dumps(batch).encode())
    return hashed.hexdigest()[:16]


def _recorded(path: Path) -> dict[str, Any]:
    return json_object(path, INCOMPLETE, checkpoint.CheckpointError)


def check_objective(run: Path, config: Config) -> None:
    """Raise CheckpointError if a rewarded run began when its configuration meant another training."""
    then = _recorded(run / ENVIRONMENT).get("objective", 1)
    if config.objective.rewarded and then != OBJECTIVE:
        raise checkpoint.CheckpointError(
            f"--resume {run}: it began with objective version {then}, this is version {OBJECTIVE}, in which "
            f"objective.kind={config.objective.kind} trains otherwise (see CHANGELOG.md); start a new run from its "
            f"best weights with --init {run}"
        )


def check_longer(run: Path, stored: Config, longer: Config, progress: checkpoint.Progress) -> None:
    """Raise ConfigError unless a run that is trained on to more updates is what it would be, had it begun with them."""
    what = f"--resume {run} training.steps={longer.training.steps}"
    if longer.training.steps < stored.training.steps:
        raise ConfigError(f"{what}: the run has {stored.training.steps}; give more, or none")
    if reason := next(_differences(stored, longer, progress), None):
        raise ConfigError(
            f"{what}: {reason}; so it would not end as a run that begins with training.steps={longer.training.steps}. "
            f"Start a new run from its best weights: --init {run} run=NEW"
        )


def _differences(stored: Config, longer: Config, progress: checkpoint.Progress) -> Iterator[str]:
    """What the updates and validations so far would not have been in a run of more updates."""
    done, training, shared = progress.step, stored.training, stored.objective.updates_per_sample
    every = training.validate_every
    if done == training.steps and done % shared:
        yield f"it ended after update {done}, within the objective.updates_per_sample={shared} that share their samples"
    if done == training.steps and done % every:
        yield f"its last validation, after update {done}, is none of those of training.validate_every={every}"
    if progress.finished:
        yield f"training.patience={training.patience} ended it after update {done}, as it would end a longer one"
    for number in range(done):
        rates = [config.training.rate_at(number) for config in (stored, longer)]
        gammas = [config.objective.gamma_at(number, config.training.steps) for config in (stored, longer)]
        for name, (then, now) in {"learning rate": rates, "gamma": gammas}.items():
            if then != now:
                yield f"its update {number + 1} had the {name} {then:.6g}, in a run of so many updates it is {now:.6g}"


def as_begun(run: Path, config: Config) -> Config:
    """The configuration with each reward as its name was meant when the run began. Raises CheckpointError."""
    if _recorded(run / ENVIRONMENT).get("rewards", 1) == REWARDS:
        return config
    objective, training = config.objective, config.training
    reward = None if objective.reward is None else unstemmed(objective.reward)
    choose_by = None if training.choose_by is None else unstemmed(training.choose_by)
    return replace(
        config,
        metrics=tuple(unstemmed(spec) for spec in config.metrics),
        objective=replace(objective, reward=reward),
        training=replace(training, choose_by=choose_by),
    )


def unstemmed(spec: RewardSpec) -> str:
    """The reward, in which every ROUGE that does not say so is not stemmed."""

    def explicit(found: re.Match[str]) -> str:
        name, options = found[1], found[2]
        if options and "stemmer" in options:
            return found[0]
        return f"{name}({options}, stemmer=false)" if options else f"{name}(stemmer=false)"

    return ROUGE.sub(explicit, str(as_spec(spec)))


def check_unchanged(run: Path, signatures: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Raise CheckpointError if a run's rewards or facts differ from those it started with."""
    recorded = _recorded(run / ENVIRONMENT)
    stored = {name: recorded.get(name, fact) for name, fact in facts.items()}  # older runs did not record all
    then = _by_name(_recorded(run / "best" / checkpoint.REWARDS), stored)
    now = _by_name(signatures, facts)
    changed = [
        f"  {name}: {then.get(name)} then, {now.get(name)} now"
        for name in then | now
        if then.get(name) != now.get(name)
    ]
    if changed:
        raise checkpoint.CheckpointError(
            f"--resume {run}: what the run depends on has changed; restore it, or start a new run with --init {run}\n"
            + "\n".join(changed)
        )


def _by_name(signatures: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, Any]:
    articles = facts["articles"] if isinstance(facts["articles"], dict) else {}
    return {
        **{f"reward {name}": NAMED.sub("", str(signature)) for name, signature in signatures.items()},
        **{f"articles of data.{part}": value for part, value in articles.items()},
        "processes": facts["processes"],
        "the start, which the KL penalty measures from": facts.get("start"),
    }
