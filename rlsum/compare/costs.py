"""What the cells of a comparison will cost: a few updates of each kind of training, a few decoded articles, timed."""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from rlsum import config as configs
from rlsum import workers
from rlsum.compare.cells import Cell, methods_of
from rlsum.compare.config import Choosing, Comparison, Decode
from rlsum.compare.folder import Folder
from rlsum.compare.scoring import FIX
from rlsum.errors import RecordError, UserError
from rlsum.files import write_atomically
from rlsum.generation.job import articles
from rlsum.generation.options import Generating, choice_of, decoding_of
from rlsum.generation.outputs import SummaryTask
from rlsum.readers import json_object
from rlsum.training import build, checkpoint
from rlsum.training.trainer import Trainer
from rlsum.yaml_files import merge

TIMED, MEASURED, DECODED = 3, 32, 8  # updates, validation articles, test articles


@dataclass(frozen=True)
class Cost:
    """Expected seconds of a cell: of an update, of a validation, of decoding the test articles, of all."""

    update: float
    validation: float
    decoding: float
    total: float


@dataclass(frozen=True)
class Timed:
    """Measured seconds: of an update, of a validation, and by way of decoding of a test article."""

    update: float
    validation: float
    decoding: dict[str, float]


def costs(folder: Folder, cells: Sequence[Cell], count: int) -> dict[str, Cost]:
    """The cost of every cell, from a few updates of each kind of training; what was timed is kept in the folder.

    ``count``: test articles. Each way of decoding is timed with the first model: all have its size. A training that
    fails already has no cost: it is its own cell's matter.
    """
    path = folder.path / "costs.json"
    written = json_object(path, FIX) if path.exists() else {}
    try:
        timed = {name: Timed(**values) for name, values in written.items()}
    except TypeError as error:
        raise RecordError(f"{path}: not a file of costs; {FIX}") from error
    starts = {cell.name: cell for cell in cells if cell.kind == "start"}
    sections: dict[str, Decode | Choosing] = {
        f"decoding.{name}": how for name, how in folder.comparison.decoding.items()
    }
    sections |= {f"choosing.{name}": how for name, how in folder.comparison.choosing.items()}
    known = {name for each in timed.values() for name in each.decoding}
    with workers.pool(1, threads=1) as worker:  # as cells are trained
        for cell in cells:
            if cell.config is None or cell.system in timed:
                continue
            start = starts[cell.after[0]] if cell.after else None
            left = {name: how for name, how in sections.items() if name not in known}
            try:
                timed[cell.system] = worker.submit(
                    time_training, dict(cell.config), start, folder.comparison, left
                ).result()
            except UserError:
                continue
            known |= set(left)
    write_atomically(path, json.dumps({name: asdict(each) for name, each in timed.items()}).encode())
    of_article = {name: seconds for each in timed.values() for name, seconds in each.decoding.items()}
    found = {cell.name: _cost(folder.comparison, cell, timed, of_article, count) for cell in cells}
    return {name: cost for name, cost in found.items() if cost is not None}


def _cost(
    comparison: Comparison, cell: Cell, timed: Mapping[str, Timed], of_article: Mapping[str, float], count: int
) -> Cost | None:
    """What a cell costs; None for given outputs, or where it was not timed."""
    ways = [f"decoding.{name}" for name in methods_of(comparison, cell)]
    ways = [f"choosing.{cell.system}"] if cell.kind == "choosing" else ways
    if cell.model is None or (cell.config is not None and cell.system not in timed) or not of_article:
        return None
    decoding = count * sum(of_article.get(way, 0.0) for way in ways)
    if cell.config is None:
        return Cost(0.0, 0.0, decoding, decoding)
    training = configs.check(dict(cell.config), cell.name).training
    validations = 1 + training.steps // training.validate_every
    each = timed[cell.system]
    total = training.steps * each.update + validations * each.validation + decoding
    return Cost(each.update, each.validation, decoding, total)


def time_training(
    values: dict[str, Any], start: Cell | None, comparison: Comparison, sections: Mapping[str, Decode | Choosing]
) -> Timed:
    """An update, a validation and the ``sections`` of decoding, measured with a model of the start's size."""
    log = logging.getLogger("rlsum.readers")
    init = checkpoint.find_or_none(str(start.model)) if start is not None else None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as after:
        after.callback(log.setLevel, log.level)
        log.setLevel(logging.ERROR)  # skipped rows have been reported by the check
        own: dict[str, Any] = {"run": folder, "training": {"tracker": None}}
        if start is not None and init is None:  # not trained yet: weights of its size do
            own |= {key: (start.config or {})[key] for key in ("model", "vocabulary") if key in (start.config or {})}
        config = configs.check(merge(values, own), "timed")
        if "model" in own:
            config = replace(config, model=config.model and config.model.continued())
        known = len(build.corpus(config, "valid").rows)
        valid, decoded = min(MEASURED, known), min(config.training.validate_decoded, known)
        config = replace(
            config,
            data=replace(config.data, valid_limit=valid),
            training=replace(config.training, validate_decoded=min(decoded, valid)),
        )
        trainer = build.trainer(config, init=init.folder if init else None)
        update, validation = trainer.timed(TIMED)
        decoding = {name: time_decoding(trainer, comparison, section) for name, section in sections.items()}
    return Timed(update, validation * max(1.0, decoded / valid), decoding)


def time_decoding(trainer: Trainer, comparison: Comparison, section: Decode | Choosing) -> float:
    """Seconds to summarize a test article: the mean of a batch of ``DECODED``."""
    how = Generating(
        **asdict(section), split=comparison.test_split, limit=min(comparison.test_limit or DECODED, DECODED)
    )
    config, model = trainer.config, trainer.model
    choice = choice_of(how, config.language)
    decoding = decoding_of(config.decoding, how, sampled=choice is not None)
    rows = model.read(
        articles(comparison.test_articles, config, how, choice), config.data.max_source, config.data.max_target
    )
    model.eval()
    task = SummaryTask(model, rows, decoding, "timed", DECODED, 1, choice)
    batch = model.collate(rows[: len(rows)]).to(next(model.parameters()).device)
    begun = time.perf_counter()
    task.decode(batch)
    return (time.perf_counter() - begun) / max(1, len(rows))
