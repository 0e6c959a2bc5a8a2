"""What the cells of a comparison will cost: updates of each kind of training, decoded articles, their scores, timed."""

from __future__ import annotations

import json
import logging
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from rlsum import config as configs
from rlsum import workers
from rlsum.compare.cells import START, Cell, methods_of
from rlsum.compare.config import Choosing, Comparison, Decode
from rlsum.compare.folder import Folder
from rlsum.compare.scoring import FIX, score_file
from rlsum.data.counts import token_counts
from rlsum.errors import RecordError, UserError
from rlsum.files import write_atomically
from rlsum.generation.generated import articles
from rlsum.generation.options import Generating, choice_of, decoding_of
from rlsum.generation.outputs import SummaryTask
from rlsum.models.decoding import Limits
from rlsum.readers import json_object
from rlsum.records import Output, write_outputs
from rlsum.training import build, checkpoint
from rlsum.training.checkpoint import Checkpoint
from rlsum.training.trainer import Trainer
from rlsum.yaml_files import merge

L = TypeVar("L", bound=Limits)
FILE = "costs.json"  # in the comparison's folder
TIMED, MEASURED, DECODED = 3, 32, 8  # updates, validation articles, test articles
ENOUGH = 10.0  # seconds of an update or a validation that is timed once


@dataclass(frozen=True)
class Cost:
    """Expected seconds of a cell: of an update, of a validation, of decoding the test articles, of scoring them, of the
    start of its processes, of all."""

    update: float
    validation: float
    decoding: float
    scoring: float
    starting: float
    total: float


@dataclass(frozen=True)
class Timed:
    """Measured seconds: of an update, of a validation, of a test article by way of decoding, of its scores by all
    metrics; until a process trains: imports, corpus, model, what the first update loads. ``cpu``: the share of this
    time on a processor."""

    update: float
    validation: float
    decoding: dict[str, float]
    scoring: float
    starting: float
    cpu: float


def costs(folder: Folder, cells: Sequence[Cell], count: int, console: Console) -> dict[str, Cost]:
    """The cost of every cell, from a few updates of each kind of training; what was timed is kept in the folder.

    ``count``: test articles. ``console`` shows each kind when it has been timed. Each way of decoding is timed with the
    first model: all have its size. A training that fails here has no cost: its cell will report the fault.
    """
    timed, path = timed_in(folder), folder.path / FILE
    starts = {cell.name: cell for cell in cells if cell.kind == "start"}
    updates = Counter[str]()
    for cell in cells:
        if cell.config is not None:
            updates[cell.system] += configs.check(dict(cell.config), cell.name).training.steps
    timed_ways = {name for timing in timed.values() for name in timing.decoding}
    opened = 0.0
    with workers.pool(1, threads=1) as worker:  # as cells are trained
        for cell in cells:
            if cell.config is None or cell.system in timed:
                continue
            if not opened:
                console.print(announced(folder.comparison, updates), style="dim", markup=False)
            start = starts[cell.after[0]] if cell.after else None
            left = {name: how for name, how in folder.comparison.ways.items() if name not in timed_ways}
            warning = configs.check(dict(cell.config), cell.name).training.warning
            line = f"  {cell.title}: timed now" + (f"; {warning}" if warning else "")
            console.print(line, style="dim", markup=False)
            opened = opened or _seconds_of(worker.submit(_imported).result)
            try:
                measured = worker.submit(time_training, dict(cell.config), start, folder.comparison, left).result()
            except UserError:
                continue
            timed[cell.system] = replace(measured, starting=opened + measured.starting)
            timed_ways |= set(left)
            with folder.lock("costs", wait=True):  # others that begin on this folder write it at the same time
                timed = timed_in(folder) | timed
                write_atomically(path, json.dumps({name: asdict(timing) for name, timing in timed.items()}).encode())
            slowest = max(timed.values(), key=lambda timing: timing.update)  # also of the kinds that are not yet timed
            counted = [(timed.get(name, slowest), count) for name, count in updates.items()]
            all_of_them = duration(sum(timing.update * count for timing, count in counted))
            used = duration(sum(timing.update * timing.cpu * count for timing, count in counted))
            line = f"  {cell.title}: {measured.update:.2g} s an update; all updates so: {all_of_them}, {used} of it CPU"
            console.print(line, style="dim", markup=False)
    found = ((cell.name, _cost(folder.comparison, cell, timed, count)) for cell in cells)
    return {name: cost for name, cost in found if cost is not None}


def timed_in(folder: Folder) -> dict[str, Timed]:
    """What has been timed, by system. Raises RecordError for a file of something else."""
    path = folder.path / FILE
    try:
        return {name: Timed(**values) for name, values in (json_object(path, FIX) if path.exists() else {}).items()}
    except TypeError as error:
        raise RecordError(f"{path}: not a file of costs; {FIX}") from error


def announced(comparison: Comparison, updates: Mapping[str, int]) -> str:
    """What is going to be timed, and what makes it less."""
    counts = ", ".join(f"{name} {count:,}" for name, count in updates.items())
    sections = "start and cell" if START in updates else "cell"
    return (
        f"{sum(updates.values()):,} updates in all ({counts}). A few of each kind are timed now, to say what all cost. "
        f"Less work: training.steps, training.accumulate and data.max_source of {sections}, cell.objective.samples, "
        f"seeds={list(comparison.seeds)[:1]}, test_limit."
    )


def duration(seconds: float) -> str:
    """In words: seconds, minutes, hours."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 90 * 60 else f"{seconds / 3600:,.1f} hours"


def held(folder: Folder, cells: Sequence[Cell], count: int) -> list[str]:
    """A sentence: the planned CPU seconds of finished cells beside those that they used; [] if nothing is known.

    Scoring is left out, since cells share it. A cell counts if its log has the end of each of its commands.
    """
    used = {cell.name: folder.cpu_seconds(cell) for cell in cells if folder.state(cell).stage == "done"}
    timed = timed_in(folder) if any(used.values()) else {}
    planned, took = list[float](), list[float]()
    for cell in cells:
        cost = _cost(folder.comparison, cell, timed, count)
        if cost is not None and (seconds := used.get(cell.name)) is not None:
            share = timed[cell.system if cell.system in timed else next(iter(timed))].cpu
            planned.append((cost.total - cost.scoring) * share)
            took.append(seconds)
    if not took:
        return []
    return [
        f"The plan expected {sum(planned):,.0f} CPU seconds of training and decoding for {len(took)} of "
        f"{sum(cell.model is not None for cell in cells)} cells, which took {sum(took):,.0f}: a factor of "
        f"{sum(planned) / sum(took):.2f}."
    ]


def _imported() -> None:
    """Do nothing: a worker that can call this has imported what a training needs."""


def _seconds_of(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _cost(comparison: Comparison, cell: Cell, timed: Mapping[str, Timed], count: int) -> Cost | None:
    """What a cell costs; None where it was not timed."""
    of_article = {name: seconds for timing in timed.values() for name, seconds in timing.decoding.items()}
    if not of_article or (cell.config is not None and cell.system not in timed):
        return None
    choosing = cell.kind == "choosing"
    ways = [f"choosing.{cell.system}" if choosing else f"decoding.{name}" for name in methods_of(comparison, cell)]
    scoring = len(ways) * count * max(timing.scoring for timing in timed.values())
    if cell.model is None:
        return Cost(0.0, 0.0, 0.0, scoring, 0.0, scoring)
    decoding = count * sum(of_article.get(way, 0.0) for way in ways)
    starting = len(ways) * min(timing.starting for timing in timed.values())  # of `rlsum generate`
    if cell.config is None:
        return Cost(0.0, 0.0, decoding, scoring, starting, decoding + scoring + starting)
    training = configs.check(dict(cell.config), cell.name).training
    validations = 1 + training.steps // training.validate_every
    timing = timed[cell.system]
    starting += max(timing.starting for timing in timed.values())  # the first that was timed also loads tokenizers
    trained = training.steps * timing.update + validations * timing.validation
    return Cost(timing.update, timing.validation, decoding, scoring, starting, trained + decoding + scoring + starting)


def trained_start(folder: Folder, start: Cell) -> Checkpoint | None:
    """The checkpoint of a start; None until it is trained: where it was killed, all but the weights may be there."""
    return checkpoint.find(str(start.model)) if folder.trained(start) else None


def makespan(cells: Sequence[Cell], cost: Mapping[str, Cost], jobs: int) -> float:
    """Seconds until all cells are done, ``jobs`` at a time, each after those that it needs."""
    free, ends = [0.0] * jobs, dict[str, float]()
    for cell in cells:
        at = min(range(jobs), key=free.__getitem__)
        begin = max(free[at], *(ends.get(name, 0.0) for name in cell.after), 0.0)
        free[at] = ends[cell.name] = begin + (cost[cell.name].total if cell.name in cost else 0.0)
    return max(free)


def expected(cells: Sequence[Cell], cost: Mapping[str, Cost], jobs: int, count: int) -> str:
    """The cost of all cells with ``count`` test articles each, in words."""
    total, decoding, scoring, starting = (
        duration(sum(getattr(of_cell, name) for of_cell in cost.values()))
        for name in ("total", "decoding", "scoring", "starting")
    )
    return (
        f"{total} one after the other ({decoding} of them decoding, {scoring} scoring, {starting} starting processes), "
        f"{duration(makespan(cells, cost, jobs))} with {jobs} at a time on as many free cores, before the report. "
        f"Measured on this machine as it is now: {TIMED} updates and a validation of each kind, "
        f"{min(DECODED, count or DECODED)} articles decoded in each way and scored."
    )


def time_training(
    values: dict[str, Any], start: Cell | None, comparison: Comparison, sections: Mapping[str, Decode | Choosing]
) -> Timed:
    """An update, a validation and the ``sections`` of decoding, measured with a model of the start's size.

    Random weights never end a text, so theirs have the length of the mean reference.
    """
    begun, used, log = time.perf_counter(), time.process_time(), logging.getLogger("rlsum.readers")
    init = trained_start(Folder(comparison), start) if start is not None else None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as after:
        after.callback(log.setLevel, log.level)
        log.setLevel(logging.ERROR)  # skipped rows have been reported by the check
        changes: dict[str, Any] = {"run": folder, "training": {"tracker": None}}
        if start is not None and init is None:  # not trained yet: weights of its size do
            changes |= {key: value for key, value in (start.config or {}).items() if key in ("model", "vocabulary")}
        values = merge(values, changes)
        config = configs.check(values, "timed")
        if "model" in changes:
            config = replace(config, model=config.model and config.model.continued())
        read = build.corpus(config, "valid").rows
        known, longest, batches = len(read), None, 1
        pretrained = "pretrained" in (values.get("model") or {})
        if init is None and not pretrained:
            longest = 1 + max(config.sampling.min_length, math.ceil(token_counts(read, "tgt_tokens").mean()))
            config = replace(config, decoding=_cut(config.decoding, longest), sampling=_cut(config.sampling, longest))
        decoded = min(config.training.validate_decoded, known)
        few = MEASURED
        if pretrained:  # slow: a batch of an update, and few articles, say enough
            few = MEASURED // 4
            batches = config.training.accumulate if config.training.batch_size > 1 else 1
        valid = min(known, few if decoded == known else 4 * few)
        config = replace(
            config,
            data=replace(config.data, valid_limit=valid),
            training=replace(
                config.training,
                validate_decoded=math.ceil(decoded * valid / known),
                accumulate=config.training.accumulate // batches,
            ),
        )
        trainer = build.trainer(config, init=init.folder if init else None)
        starting = time.perf_counter() - begun
        update, validation, loading = time_updates(trainer, TIMED)
        timed = {name: time_decoding(trainer, comparison, section, longest) for name, section in sections.items()}
    decoding = {name: seconds for name, (seconds, _) in timed.items()}
    scoring = max((seconds for _, seconds in timed.values()), default=0.0)
    cpu = (time.process_time() - used) / (time.perf_counter() - begun)
    return Timed(update * batches, validation * known / valid, decoding, scoring, starting + max(0.0, loading), cpu)


def time_updates(trainer: Trainer, updates: int) -> tuple[float, float, float]:
    """Seconds of an update, the mean of ``updates``, of a validation, and of what the first of each loads.

    A first one that takes `ENOUGH` seconds is the measure: what it loads is little beside that. Moves the weights.
    """

    def next_update() -> None:
        trainer.update()
        trainer.progress.step += 1

    begun = time.perf_counter()
    validation, validations = _mean_seconds(trainer.measure, 1)
    update, count = _mean_seconds(next_update, updates)
    return update, validation, time.perf_counter() - begun - validations * validation - count * update


def _mean_seconds(work: Callable[[], object], times: int) -> tuple[float, int]:
    """Seconds of ``work``, the mean of ``times`` after a first that loads what it needs, and how often it was done."""
    first = _seconds_of(work)
    if first >= ENOUGH:
        return first, 1
    return _seconds_of(lambda: [work() for _ in range(times)]) / times, 1 + times


def _cut(decoding: L, longest: int | None) -> L:
    """The options with a maximum of ``longest`` tokens, but above the minimum length."""
    if longest is None or decoding.max_length is None:  # none of its own: that of the section ``decoding``
        return decoding
    return replace(decoding, max_length=min(decoding.max_length, max(decoding.min_length + 1, longest)))


def time_decoding(
    trainer: Trainer, comparison: Comparison, section: Decode | Choosing, longest: int | None
) -> tuple[float, float]:
    """Seconds to summarize a test article in ``longest`` tokens, and to score it: the means of ``DECODED``."""
    how = Generating(
        **asdict(section), split=comparison.test_split, limit=min(comparison.test_limit or DECODED, DECODED)
    )
    config, model = trainer.config, trainer.model
    choice = choice_of(how, config.language)
    decoding = _cut(decoding_of(config.decoding, how, sampled=choice is not None), longest)
    rows = model.read(articles(comparison.test_articles, config, how, choice), config.tokenization)
    model.eval()
    task = SummaryTask(model, rows, decoding, "timed", how, choice)
    batch = model.collate(rows[: len(rows)]).to(next(model.parameters()).device)
    outputs: list[Output] = []
    decoded = _seconds_of(lambda: outputs.extend(task.decode(batch)))
    with tempfile.TemporaryDirectory() as folder:
        path, scores = Path(folder, "outputs.jsonl"), Path(folder, "scores.json")
        write_outputs(path, outputs)
        score_file(path, scores, comparison.specs)  # loads the metrics
        scores.unlink()
        scoring = _seconds_of(lambda: score_file(path, scores, comparison.specs))
    return decoded / max(1, len(rows)), scoring / max(1, len(rows))
