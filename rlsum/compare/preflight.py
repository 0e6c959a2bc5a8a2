"""Before the first training: everything that is wrong with any cell, and the plan of what will be done."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import datasets

import rewards
from rewards.base import Unavailable
from rewards.options import nearest
from rlsum import config as configs
from rlsum.compare.cells import NONE, Cell, given_outputs
from rlsum.compare.config import Comparison
from rlsum.compare.costs import Cost, expected, trained_start
from rlsum.compare.folder import Folder
from rlsum.compare.report.chain import chain
from rlsum.compare.report.designs import GAIN, plan_blocks
from rlsum.compare.scoring import read_unique
from rlsum.config import Config
from rlsum.data.corpus import load_corpus
from rlsum.errors import ConfigError, UserError
from rlsum.evaluation.trained.power import DEFAULTS, Family, Variances
from rlsum.generation.generated import articles
from rlsum.generation.options import Generating, choice_of, decoding_of
from rlsum.generation.outputs import check_ids
from rlsum.pages.blocks import Block, Bullets, Heading, Paragraph
from rlsum.pages.table import text_table
from rlsum.training import build, checkpoint
from rlsum.training.checkpoint import Checkpoint
from rlsum.training.start.origin import Origin, check_start
from rlsum.training.start.scorers import check_columns, check_rewards, rewards_of


def check(comparison: Comparison, cells: Sequence[Cell]) -> None:
    """Raise ConfigError with everything that would stop a cell, or leave the report without a row."""
    places: dict[str, list[str]] = {}
    for where, fault in _faults(comparison, cells):
        places.setdefault(fault, []).append(where)
    if places:
        lines = [f"  {', '.join(dict.fromkeys(names))}: {fault}" for fault, names in places.items()]
        raise ConfigError(f"{len(places)} fault(s); nothing has been trained\n" + "\n".join(lines))


def _unloadable(comparison: Comparison) -> dict[str, rewards.RewardError]:
    """Test metric -> why it cannot be loaded; `Unavailable` if that is for this machine alone."""
    errors = {}
    for name, spec in comparison.scored.items():
        try:
            _ = rewards.from_spec(spec).signature  # reads vectors and encoders
        except rewards.RewardError as error:
            errors[name] = error
    return errors


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
    try:
        if comparison.correlation is not None or comparison.study is not None:
            chain(comparison.correlation, None, comparison.study)
    except UserError as error:
        yield "correlation, study", str(error)
    command = shlex.split(comparison.launcher)[:1]
    if command and shutil.which(command[0]) is None:
        yield "launcher", f"{command[0]}: no such program; install it, or leave launcher out"
    models: dict[str, Config] = {}  # cell -> the configuration that its checkpoint has, or will have
    for cell in cells:
        try:
            if cell.config is not None:
                start = next((first for first in cells if first.name in models and first.name in cell.after[:1]), None)
                weights = trained_start(Folder(comparison), start) if start is not None else None
                trainable = unloadable.keys().isdisjoint(comparison.rewards)
                models[cell.name] = _check_training(cell, models, weights, trainable)
            elif cell.kind == "start":
                models[cell.name] = checkpoint.find(str(cell.model)).config
        except (UserError, rewards.RewardError, KeyError) as error:
            if not isinstance(error, KeyError):  # its start has a fault of its own
                yield cell.name, str(error).removeprefix(f"{cell.name}: ")
    yield from _faults_of_decoding(comparison, list(models.values()))
    yield from _faults_of_articles(comparison, list(models.values()))


def _check_training(cell: Cell, models: Mapping[str, Config], weights: Checkpoint | None, trainable: bool) -> Config:
    """The cell's configuration. Raises what ``rlsum train`` would raise before it trains.

    ``weights``: the checkpoint of its start, once that is trained. Not ``trainable``: a reward of the comparison has a
    fault of its own, and no cell's rewards can be made.
    """
    config = configs.check(dict(cell.config or {}), cell.name)
    if trainable:
        check_rewards(config)
        check_columns(config, rewards_of(config)[0])
    if not cell.after:
        check_start(config, Origin())
        return config
    start = models[cell.after[0]]
    if weights is not None:
        check_start(config, Origin(checkpoint=weights))
    elif config.model is not None and config.model != start.model:
        raise ConfigError(f"model: differs from that of {cell.after[0]}; leave it out")
    else:
        check_start(replace(config, model=start.model and start.model.continued()), Origin())
    return config


def _faults_of_decoding(comparison: Comparison, known: Sequence[Config]) -> Iterator[tuple[str, str]]:
    """Options that ``rlsum generate`` would refuse, for any of the models."""
    for where, section in comparison.ways.items():
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
        for split in ("train", "valid"):
            try:
                build.corpus(config, split)
            except UserError as error:
                yield f"data.{split}", str(error)
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
    columns, how = config.reading
    columns, processes = replace(columns, further_optional=True), config.data.num_proc
    split, limit = comparison.test_split, comparison.test_limit
    return load_corpus(comparison.test_articles, columns, how, split=split, limit=limit, num_proc=processes).rows


# ---- plan ----------------------------------------------------------------------------------------------------------


def plan(
    comparison: Comparison,
    cells: Sequence[Cell],
    cost: Mapping[str, Cost],
    jobs: int,
    pilot: Variances = DEFAULTS,
    gain: float = GAIN,
) -> list[Block]:
    """The tasks in order with their cost, and the power for a ``gain`` (raw) under the variances of a ``pilot``."""
    count, rows = count_of_articles(comparison, cells), []
    for number, cell in enumerate(cells):
        minutes = f"{cost[cell.name].total / 60:.1f}" if cell.name in cost else ""
        rows.append((str(number), cell.name, cell.kind, ", ".join(cell.after), minutes))
    trained = sum(cell.config is not None for cell in cells)
    text = f"{trained} trainings and {count:,} test articles for each model: {expected(cells, cost, jobs, count)}"
    trained_on = {cell.system for cell in cells if cell.kind == "reward"}
    family = Family(max(1, len(trained_on)), 2 if any(cell.system == NONE for cell in cells) else 1)
    warnings = [f"{name} has no column in the tables: {error}" for name, error in _unloadable(comparison).items()]
    return [
        Heading(f"Plan of {comparison.folder}", 1),
        text_table("Tasks", ("task", "cell", "kind", "after", "minutes"), rows),
        *([Paragraph(text)] if cost else []),
        *(plan_blocks(len(comparison.seeds), count, pilot, gain, family) if count else []),
        *([Bullets(warnings, "warning")] if warnings else []),
    ]


def count_of_articles(comparison: Comparison, cells: Sequence[Cell]) -> int:
    """The number of test articles; 0 where it is not known without a model."""
    if comparison.simulate is not None:
        return min(comparison.simulate.test, comparison.test_limit or comparison.simulate.test)
    configs_known = [dict(cell.config) for cell in cells if cell.config is not None]
    if not configs_known:
        return 0
    return len(_test_articles(comparison, configs.check(configs_known[0], "plan")))
