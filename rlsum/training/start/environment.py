"""What a run depends on and what it ran on: recorded at its start, compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import datasets
import torch

from rlsum.data.corpus import Corpus
from rlsum.data.remembered import counted, remembered
from rlsum.errors import option
from rlsum.files import file_digest
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


def check_init(run: Path, init: Path) -> None:
    """Raise CheckpointError if a run did not start with the weights of ``init``, which it would not read again."""
    if _recorded(run / ENVIRONMENT).get("init") != init_digest(checkpoint.find(init)):
        raise checkpoint.CheckpointError(
            f"{option('init', init)}: {run} started with other weights, and would go on from those; leave out "
            f"{option('init')}, or choose another run="
        )


def init_digest(stored: checkpoint.Checkpoint | None) -> str | None:
    """What a run records of the weights that it starts with; None of a new model."""
    return None if stored is None else file_digest(stored.folder / checkpoint.WEIGHTS)


def _by_name(signatures: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{f"reward {name}": signature for name, signature in signatures.items()},
        **{f"articles of data.{split}": value for split, value in (facts["articles"] or {}).items()},
        "processes": facts["processes"],
        "the start, which the KL penalty measures from": facts.get("start"),
        "the prompt of model.prompt, system and template, or the tokenizer's chat template": facts.get("prompt"),
    }
