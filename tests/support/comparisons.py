"""A comparison small enough that its cells take no time, and cells that are finished without a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows import jsonl

from rlsum.compare import config as configs
from rlsum.compare import simulated
from rlsum.compare.cells import Cell, cells_of
from rlsum.compare.config import Comparison
from rlsum.compare.folder import Folder
from rlsum.files import file_digest, write_atomically
from rlsum.records import Output, write_outputs

ARTICLES = 6
TINY_TRAINING = {"batch_size": 4, "learning_rate": 1e-2, "validate_decoded": 4, "log_every": 1, "tracker": None}


def values(folder: Path, **changes: Any) -> dict[str, Any]:
    """A comparison of two rewards, as a mapping."""
    return {
        "folder": str(folder),
        "simulate": {"train": 40, "valid": 4, "test": ARTICLES, "vectors": False},
        "seeds": [1, 2],
        "start": {
            "model": {"embedding": 8, "hidden": 8},
            "vocabulary": {"size": 200, "min_count": 2},
            "training": {"steps": 4, "validate_every": 2, **TINY_TRAINING},
            "decoding": {"max_length": 12},
        },
        "cell": {
            "objective": {"kind": "mixed", "samples": 2},
            "training": {"steps": 2, "validate_every": 1, **TINY_TRAINING},
            "decoding": {"max_length": 12},
        },
        "rewards": {"rouge-l": {"reward": "rouge-l", "scale": 5}, "rouge-2": "rouge-2"},
        "metrics": ["rouge-1"],
        "decoding": {"beam": {"beam": 2}},
        **changes,
    }


def comparison(folder: Path, **changes: Any) -> Comparison:
    return configs.check(values(folder, **changes), "test")


def prepared(folder: Path, **changes: Any) -> tuple[Folder, list[Cell]]:
    """A folder of one seed with its corpus, and its cells; no other metrics than the rewards."""
    given = comparison(folder, **{"seeds": [1], "metrics": [], **changes})
    made = Folder(given)
    made.claim()
    simulated.prepare(made)
    return made, cells_of(given)


def named(cells: list[Cell], name: str) -> Cell:
    return next(cell for cell in cells if cell.name == name)


def finish(folder: Folder, cell: Cell, scores: dict[str, np.ndarray], method: str = "beam") -> None:
    """Leave a cell's files as if it were done: a run, summaries, scores of every article."""
    ids = [f"test-{number}" for number in range(len(next(iter(scores.values()))))]
    if cell.config is not None:
        run = Path(str(cell.model))
        run.mkdir(parents=True, exist_ok=True)
        rows = [
            {"step": 1, "kind": "train", "nll": 2.0, "reward": 0.1, "advantage_mean": -0.2},
            {"step": 1, "kind": "valid", "nll": 2.0, "rouge-l": 0.1},
        ]
        jsonl(run / "metrics.jsonl", *rows)
        write_atomically(run / "result.json", b"{}")  # the last, and whole: other threads wait for it
    path = folder.outputs(cell)[method]
    if not path.exists():
        outputs = (Output(name, "an ash fell", ("ash fell",), f"{cell.name} fell", cell.title) for name in ids)
        write_outputs(path, outputs)
    content = {
        "ids": ids,
        "references": ["a hash"] * len(ids),
        "articles": ["a hash"] * len(ids),
        "metrics": {name: list(column) for name, column in scores.items()},
        "properties": {"length": [3.0] * len(ids)},
        "specs": {name: name for name in scores},
        "signatures": {name: f"{name}|version:1" for name in scores},
        "missing": {},
        "outputs": file_digest(path),
    }
    folder.scores(cell, method).write_text(json.dumps(content))


def rescore(folder: Folder, cells: list[Cell], name: str, **changes: Callable[[Any], Any]) -> None:
    """Replace parts of the scores of a cell by functions of what is there."""
    path = folder.scores(named(cells, name), "beam")
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {key: change(content.get(key)) for key, change in changes.items()}))


def finished(
    path: Path, gains: dict[str, float], articles: int = 80, seeds: tuple[int, ...] = (1, 2, 3), **changes: Any
) -> tuple[Folder, list[Cell]]:
    """A folder in which every cell is done; ``gains`` maps a system to its points above a score of .3."""
    given = comparison(path, seeds=seeds, **changes)
    folder, cells = Folder(given), cells_of(given)
    folder.claim()
    noise = np.random.default_rng(0)
    shared = noise.normal(0, 0.1, articles)
    for cell in cells:
        own = 0.3 + gains.get(cell.system, 0.0) + shared + noise.normal(0, 0.03, articles)
        (path / "data").mkdir(exist_ok=True)
        finish(folder, cell, dict.fromkeys(given.specs, own))
    return folder, cells
