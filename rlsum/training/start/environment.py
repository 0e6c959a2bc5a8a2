"""What a run depends on and what it ran on: recorded at its start, compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import datasets
import torch

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.remembered import counted, remembered
from rlsum.errors import option
from rlsum.readers import json_object
from rlsum.training import checkpoint
from rlsum.training.parallel.processes import Processes

ENVIRONMENT = "environment.json"
BATCH = 1000  # rows of a digest, which depends on it
INCOMPLETE = "give the folder of a complete run"
LEARNING = ("torch", "transformers", "tokenizers", "peft", "datasets", "accelerate")
PACKAGES = ("rlsum", *LEARNING, "pot", "spacy", "nltk", "numpy")


def describe(facts: Mapping[str, Any]) -> bytes:
    """The machine, the packages and ``facts`` as JSON."""
    about = {
        "command": sys.argv,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "packages": {name: _version(name) for name in PACKAGES},
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
    names = [name for name in ("id", "source", "references", "columns") if name in rows.column_names]

    def compute() -> str:
        hashed = hashlib.sha256()
        batches = rows.select_columns(names).iter(BATCH)
        for batch in counted(batches, "digest of the articles", -(-len(rows) // BATCH)):
            hashed.update(json.dumps(batch).encode())
        return hashed.hexdigest()[:16]

    kept: str = remembered("digest", (rows._fingerprint,), compute)
    return kept


def _recorded(path: Path) -> dict[str, Any]:
    return json_object(path, INCOMPLETE, checkpoint.CheckpointError)


def check_longer(run: Path, stored: Config, longer: Config, progress: checkpoint.Progress) -> None:
    """Raise ConfigError if the updates so far would differ had the run begun with the larger number of updates."""
    what = f"{option('resume', run)} training.steps={longer.training.steps}"
    if longer.training.steps < stored.training.steps:
        raise ConfigError(f"{what}: the run has {stored.training.steps}; give more, or none")
    if reason := next(_differences(stored, longer, progress), None):
        raise ConfigError(
            f"{what}: {reason}; so it would not end as a run that begins with training.steps={longer.training.steps}. "
            f"Start a new run from its best weights: {option('init', run)} run=NEW"
        )


def _differences(stored: Config, longer: Config, progress: checkpoint.Progress) -> Iterator[str]:
    """Which updates and validations so far would differ in a run of more updates."""
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


def check_unchanged(run: Path, signatures: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Raise CheckpointError if a run's rewards or facts differ from those it started with."""
    recorded = _recorded(run / ENVIRONMENT)
    stored = {name: recorded.get(name) for name in facts}
    then = _by_name(_recorded(run / "best" / checkpoint.REWARDS), stored)
    now = _by_name(signatures, facts)
    changed = [
        f"  {name}: {then.get(name)} then, {now.get(name)} now"
        for name in then | now
        if then.get(name) != now.get(name)
    ]
    if changed:
        raise checkpoint.CheckpointError(
            f"{option('resume', run)}: what the run depends on has changed; restore it, or start a new run with "
            f"{option('init', run)}\n" + "\n".join(changed)
        )


def _by_name(signatures: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{f"reward {name}": signature for name, signature in signatures.items()},
        **{f"articles of data.{split}": value for split, value in (facts["articles"] or {}).items()},
        "processes": facts["processes"],
        "the start, which the KL penalty measures from": facts.get("start"),
        "the prompt of model.prompt, system and template, or the tokenizer's chat template": facts.get("prompt"),
    }
