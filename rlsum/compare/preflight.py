"""Before the first training: everything that is wrong with any cell, and what the cells will cost."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import datasets

import rewards
from rewards.base import Unavailable
from rewards.options import nearest
from rlsum import config as configs
from rlsum import workers
from rlsum.compare.analyses.chain import chain
from rlsum.compare.analyses.designs import GAIN, plan_blocks
from rlsum.compare.cells import NONE, Cell, given_outputs
from rlsum.compare.config import Choosing, Comparison, Decode
from rlsum.compare.folder import Folder
from rlsum.compare.scoring import FIX, read_unique
from rlsum.config import Config
from rlsum.data.corpus import load_corpus
from rlsum.errors import ConfigError, RecordError, UserError
from rlsum.evaluation.trained.power import DEFAULTS, Family, Variances
from rlsum.files import write_atomically
from rlsum.generation.job import articles
from rlsum.generation.options import Generating, choice_of, decoding_of
from rlsum.generation.outputs import check_ids
from rlsum.models.sizes import ModelConfig
from rlsum.pages.blocks import Block, Bullets, Heading, Paragraph
from rlsum.pages.table import text_table
from rlsum.readers import json_object
from rlsum.training import build, checkpoint
from rlsum.training.start.origin import Origin
from rlsum.yaml_files import merge

TIMED, MEASURED = 3, 32  # updates, validation articles


@dataclass(frozen=True)
class Cost:
    """Expected seconds of a cell's training: of an update, of a validation, of all."""

    update: float
    validation: float
    total: float


def check(comparison: Comparison, cells: Sequence[Cell]) -> None:
    """Raise ConfigError with everything that would stop a cell, or leave the report without a row."""
    found: dict[str, list[str]] = {}
    for where, fault in _faults(comparison, cells):
        found.setdefault(fault, []).append(where)
    if found:
        lines = [f"  {', '.join(dict.fromkeys(names))}: {fault}" for fault, names in found.items()]
        raise ConfigError(f"{len(found)} fault(s); nothing has been trained\n" + "\n".join(lines))


def _unloadable(comparison: Comparison) -> dict[str, rewards.RewardError]:
    """Test metric -> why it cannot be loaded; `Unavailable` if that is for this machine alone."""
    found = {}
    for name, spec in comparison.specs.items():
        try:
            _ = rewards.from_spec(spec).signature  # reads vectors and encoders
        except rewards.RewardError as error:
            found[name] = error
    return found


def _faults(comparison: Comparison, cells: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """Where, and what is wrong."""
    rows = [cell.system for cell in cells]
    if comparison.compared_with is not None and comparison.compared_with not in rows:
        hint = nearest(comparison.compared_with, rows)
        yield "compared_with", f"{comparison.compared_with!r} is not the name of a row{hint}"
    unloadable = _unloadable(comparison)
    for name, error in unloadable.items():
        if name in comparison.rewards or not isinstance(error, Unavailable):  # a missing metric is a warning
            yield f"{'reward' if name in comparison.rewards else 'metric'} {name}", str(error)
    paths = [Path(path) if path is not None else None for path in (comparison.correlation, comparison.study)]
    try:
        if paths != [None, None]:
            chain(paths[0], None, paths[1])
    except UserError as error:
        yield "correlation, study", str(error)
    command = shlex.split(comparison.launcher)[:1]
    if command and shutil.which(command[0]) is None:
        yield "launcher", f"{command[0]}: no such program; install it, or leave launcher out"
    models: dict[str, Config] = {}  # cell -> the configuration that its checkpoint has, or will have
    for cell in cells:
        try:
            if cell.config is not None:
                models[cell.name] = _check_training(cell, models, unloadable.keys().isdisjoint(comparison.rewards))
            elif cell.kind == "start":
                models[cell.name] = checkpoint.find(str(cell.model)).config
        except (UserError, rewards.RewardError, KeyError) as error:
            if not isinstance(error, KeyError):  # its start has a fault of its own
                yield cell.name, str(error).removeprefix(f"{cell.name}: ")
    yield from _faults_of_decoding(comparison, list(models.values()))
    yield from _faults_of_articles(comparison, list(models.values()))


def _check_training(cell: Cell, models: Mapping[str, Config], trainable: bool) -> Config:
    """The cell's configuration. Raises what ``rlsum train`` would raise before it trains.

    Not ``trainable``: a reward of the comparison has a fault of its own, and no cell's rewards can be made.
    """
    config = configs.check(dict(cell.config or {}), cell.name)
    if trainable:
        build.check_rewards(config)
        build.check_columns(config, build.rewards_of(config)[0])
    if not cell.after:
        build.check_start(config, Origin())
        return config
    start = models[cell.after[0]]
    found = checkpoint.find_or_none(start.run)
    if found is not None:
        build.check_start(config, Origin(checkpoint=found))
    elif config.model is not None and config.model != start.model:
        raise ConfigError(f"model: differs from that of {cell.after[0]}; leave it out")
    else:
        build.check_start(replace(config, model=_continued(start.model)), Origin())
    return config


def _continued(model: ModelConfig | None) -> ModelConfig | None:
    """The model of a start as a cell continues it: without dropout, low-rank updates merged (`build.trainer`)."""
    if model is None:
        return None
    if model.kind == "pointer-generator":
        return replace(model, dropout=0.0)
    return replace(model, dropout=None, lora=None)


def _faults_of_decoding(comparison: Comparison, known: Sequence[Config]) -> Iterator[tuple[str, str]]:
    """Options that ``rlsum generate`` would refuse, for any of the models."""
    sections: dict[str, Decode | Choosing] = {f"decoding.{name}": how for name, how in comparison.decoding.items()}
    sections |= {f"choosing.{name}": how for name, how in comparison.choosing.items()}
    for where, section in sections.items():
        how = Generating(**asdict(section), split=comparison.test_split, limit=comparison.test_limit)
        try:
            choice = choice_of(how, comparison.language)
            for config in known:
                decoding_of(config.decoding, how, sampled=choice is not None)
            if choice is not None and known:
                articles(comparison.test_articles, known[0], how, choice)
        except (UserError, rewards.RewardError) as error:
            yield where, str(error)


def _faults_of_articles(comparison: Comparison, known: Sequence[Config]) -> Iterator[tuple[str, str]]:
    """Articles that cannot be read, and outputs of other articles."""
    for config in {json.dumps(asdict(config.data)): config for config in known}.values():  # of each corpus, one
        for part in ("train", "valid"):
            try:
                build.corpus(config, part)
            except UserError as error:
                yield f"data.{part}", str(error)
    if not known:
        return
    try:
        ids = _test_articles(comparison, known[0])["id"]
        check_ids(ids, comparison.test_articles)
    except UserError as error:
        yield "test", str(error)
        return
    for name, path in given_outputs(comparison).items():
        try:
            if lacking := len(set(ids) - {output.id for output in read_unique(path)}):
                counted = f"no output for {lacking:,} of the {len(ids):,} articles of {comparison.test_articles}"
                yield f"outputs.{name}", f"{path}: {counted}; give one for each article"
        except UserError as error:
            yield f"outputs.{name}", str(error)


def _test_articles(comparison: Comparison, config: Config) -> datasets.Dataset:
    """The test articles, read as the configuration of a run says."""
    split, limit, reading = comparison.test_split, comparison.test_limit, build.reading(config)
    return load_corpus(comparison.test_articles, split=split, limit=limit, columns_optional=True, **reading).rows


# ---- cost -----------------------------------------------------------------------------------------------------------


def costs(folder: Folder, cells: Sequence[Cell]) -> dict[str, Cost]:
    """The cost of every cell that is trained, from a few updates of each kind of training; remembered in the folder.

    A training that fails already has none: it is its own cell's matter.
    """
    path = folder.path / "costs.json"
    written = json_object(path, FIX) if path.exists() else {}
    try:
        known = {name: Cost(**values) for name, values in written.items()}
    except TypeError as error:
        raise RecordError(f"{path}: not a file of costs; {FIX}") from error
    timed: dict[str, tuple[float, float]] = {cell.system: (known[cell.name].update, known[cell.name].validation)
                                             for cell in cells if cell.name in known}  # fmt: skip
    starts = {cell.name: cell for cell in cells if cell.kind == "start"}
    result = {}
    with workers.pool(1, threads=1) as worker:  # as cells are trained
        for cell in cells:
            if cell.config is None:
                continue
            if cell.system not in timed:
                start = starts[cell.after[0]] if cell.after else None
                try:
                    timed[cell.system] = worker.submit(time_training, dict(cell.config), start).result()
                except UserError:
                    continue
            training = configs.check(dict(cell.config), cell.name).training
            validations = 1 + training.steps // training.validate_every
            update, validation = timed[cell.system]
            result[cell.name] = Cost(update, validation, training.steps * update + validations * validation)
    write_atomically(path, json.dumps({name: asdict(cost) for name, cost in (known | result).items()}).encode())
    return result


def time_training(values: dict[str, Any], start: Cell | None) -> tuple[float, float]:
    """Seconds of an update and of a validation, measured with a model of the start's size."""
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
            config = replace(config, model=_continued(config.model))
        known = len(build.corpus(config, "valid").rows)
        articles, decoded = min(MEASURED, known), min(config.training.validate_decoded, known)
        config = replace(
            config,
            data=replace(config.data, valid_limit=articles),
            training=replace(config.training, validate_decoded=min(decoded, articles)),
        )
        update, validation = build.trainer(config, init=init.folder if init else None).timed(TIMED)
    return update, validation * max(1.0, decoded / articles)


def plan(
    comparison: Comparison,
    cells: Sequence[Cell],
    cost: Mapping[str, Cost],
    jobs: int,
    pilot: Variances = DEFAULTS,
    gain: float = GAIN,
) -> list[Block]:
    """The tasks in order with their cost, and the power for a ``gain`` (raw) under the variances of a ``pilot``."""
    rows = []
    for number, cell in enumerate(cells):
        minutes = f"{cost[cell.name].total / 60:.1f}" if cell.name in cost else ""
        rows.append((str(number), cell.name, cell.kind, ", ".join(cell.after), minutes))
    total = sum(each.total for each in cost.values()) / 60
    trained = sum(cell.config is not None for cell in cells)
    told = (
        f"{trained} trainings, {total:.0f} minutes one after the other, at best "
        f"{total / min(jobs, max(1, trained)):.0f} with {jobs} at a time, as busy as this machine is now: {TIMED} "
        "timed updates and a validation of each kind, without decoding the test articles."
    )
    count = _count(comparison, cells)
    trained_on = {cell.system for cell in cells if cell.kind == "reward"}
    family = Family(max(1, len(trained_on)), 2 if any(cell.system == NONE for cell in cells) else 1)
    warnings = [f"{name} has no column in the tables: {error}" for name, error in _unloadable(comparison).items()]
    return [
        Heading(f"Plan of {comparison.folder}", 1),
        text_table("Tasks", ("task", "cell", "kind", "after", "minutes"), rows),
        *([Paragraph(told)] if cost else []),
        *(plan_blocks(len(comparison.seeds), count, pilot, gain, family) if count else []),
        *([Bullets(warnings, "warning")] if warnings else []),
    ]


def _count(comparison: Comparison, cells: Sequence[Cell]) -> int:
    """The number of test articles; 0 where it is not known without a model."""
    if comparison.simulate is not None:
        return comparison.simulate.test
    configs_known = [dict(cell.config) for cell in cells if cell.config is not None]
    if not configs_known:
        return 0
    return len(_test_articles(comparison, configs.check(configs_known[0], "plan")))
