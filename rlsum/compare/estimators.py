"""Estimators beside each other at equal compute: the same starts, updates and decoded texts, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import rewards
from rlsum import config as configs
from rlsum.compare import cells
from rlsum.compare.cells import BEAM, GREEDY, Cell, Decoded, Say
from rlsum.compare.demo import CONTROL, START
from rlsum.compare.report import CellResult, ComparisonReport, build_section, read_cell, score_cell
from rlsum.errors import UserError
from rlsum.records import Output
from rlsum.training import checkpoint

ROWS = 5  # texts decoded an article: self-critical's greedy baseline is one of them
REWARD = "rouge-l"
METRICS = ("rouge-1", "rouge-2", "rouge-l")

# Scales give advantages of a spread near 1, so that the same share of the likelihood loss stands beside each.
ESTIMATORS: Mapping[str, tuple[str, ...]] = {
    "self-critical": ("objective.estimator=self-critical", f"objective.samples={ROWS - 1}", "objective.reward_scale=5"),
    "rloo": ("objective.estimator=rloo", f"objective.samples={ROWS}", "objective.reward_scale=5"),
    "grpo": ("objective.estimator=grpo", f"objective.samples={ROWS}", "objective.reward_scale=1"),
    "dr-grpo": ("objective.estimator=dr-grpo", f"objective.samples={ROWS}", "objective.reward_scale=5"),
    "ranking": ("objective.kind=ranking", f"objective.samples={ROWS}", "objective.reward_scale=1"),
}


@dataclass(frozen=True)
class Plan:
    """``folders``: each has a likelihood model in ``mle``, as `rlsum demo` makes them; one folder a seed.

    ``configs`` holds rouge-l.yaml, from which every estimator departs, and none.yaml, the control. An estimator is one
    of ESTIMATORS, or one with settings of its own: ``ranking:objective.gamma=0.5``.
    """

    folders: tuple[Path, ...]
    configs: Path
    estimators: tuple[str, ...] = tuple(ESTIMATORS)
    jobs: int = 2


def run(plan: Plan, say: Say) -> ComparisonReport:
    """Train every estimator from every start, decode, score. Finished parts of an earlier call are kept."""
    check(plan)
    made = {folder: _cells(plan, folder) for folder in plan.folders}
    for folder, (start, *others) in made.items():
        say(f"{folder}: training {', '.join(cell.name for cell in others)}")
        finish = partial(_finish, folder=folder, say=say)
        cells.side_by_side(finish, [*others, start], plan.jobs)
    return make_report(made)


def _finish(cell: Cell, folder: Path, say: Say) -> None:
    """Train a cell from the folder's likelihood model, and let it write; the likelihood model itself is trained."""
    cells.train(cell, folder / "mle", say)
    cells.decode(cell, test_articles(folder), _outputs(folder), (BEAM, GREEDY), say)


def check(plan: Plan) -> None:
    """Raise UserError for an unknown estimator or setting, or a folder without a likelihood model or test articles."""
    unknown = [name for name in plan.estimators if name.split(":")[0] not in ESTIMATORS]
    if unknown:
        raise UserError(f"estimators={','.join(unknown)}: unknown; known: {', '.join(ESTIMATORS)}")
    for name in ("none.yaml", f"{REWARD}.yaml"):
        if not (plan.configs / name).is_file():
            raise UserError(f"configs={plan.configs}: no {name}; give the folder that holds it")
    for folder in plan.folders:
        checkpoint.find(folder / "mle")
        if not test_articles(folder).is_file():
            raise UserError(f"{folder}: no {test_articles(folder)} beside the training articles; simulate it")
        for cell in _cells(plan, folder)[1:]:
            configs.load(cell.config, [f"run={cell.run}", *cell.overrides])


def test_articles(folder: Path) -> Path:
    """Beside the training articles of the folder's likelihood model."""
    return Path(checkpoint.read_config(folder / "mle").data.train).with_name("test.jsonl")


def _cells(plan: Plan, folder: Path) -> list[Cell]:
    """The start, the control and a cell an estimator, all on the start's data and seed."""
    config = checkpoint.read_config(folder / "mle")
    same = (
        f"data.train={config.data.train}",
        f"data.valid={config.data.valid}",
        f"training.seed={config.training.seed}",
        f"metrics=[{REWARD}]",
    )
    runs = folder / "estimators"
    start = Cell(START, folder / "mle" / "config.yaml", folder / "mle")
    control = Cell(CONTROL, plan.configs / "none.yaml", runs / "none", overrides=same)
    departing = plan.configs / f"{REWARD}.yaml"
    trained = [
        Cell(name, departing, runs / name.replace(":", ","), REWARD, (*same, *settings(name)))
        for name in plan.estimators
    ]
    return [start, control, *trained]


def settings(estimator: str) -> tuple[str, ...]:
    """Overrides of an estimator: those of its name, then its own."""
    name, *own = estimator.split(":")
    return (*ESTIMATORS[name], *own)


def make_report(made: Mapping[Path, Sequence[Cell]]) -> ComparisonReport:
    """All seeds together, article by article, and each seed by itself."""
    scorers = {name: rewards.load(name) for name in METRICS}
    listed = next(iter(made.values()))
    trained = {cell.name: cell.reward for cell in listed if cell.reward is not None}
    sections = []
    for way in (BEAM, GREEDY):
        together = [score_cell(_together(made, number, way), scorers) for number in range(len(listed))]
        title = f"{way.title}, {len(made)} seeds" if len(made) > 1 else way.title
        sections.append(build_section(title, together, trained, start=START, control=CONTROL))
    for folder in made if len(made) > 1 else ():
        alone = [
            score_cell(CellResult(cell.name, cells.outputs_path(_outputs(folder), cell, BEAM)), scorers)
            for cell in made[folder]
        ]
        sections.append(build_section(f"{BEAM.title}, {folder}", alone, trained, start=START, control=CONTROL))
    return ComparisonReport(
        title="Which estimator?",
        sections=tuple(sections),
        signatures={name: scorer.signature for name, scorer in scorers.items()},
        notes=(
            f"Every estimator starts from the same likelihood model of each seed ({START}), decodes {ROWS} texts an "
            f"article and gets equally many updates; {CONTROL} gets as many by likelihood alone. Reward: {REWARD}. "
            "Intervals are over the test articles; how far seeds lie apart, the sections of single seeds show.",
        ),
    )


def _together(made: Mapping[Path, Sequence[Cell]], number: int, way: Decoded) -> CellResult:
    """One system's outputs in all seeds; the seeds have articles of their own."""
    first = next(iter(made.values()))[number]
    outputs: list[Output] = []
    for folder, listed in made.items():
        each = read_cell(CellResult(first.name, cells.outputs_path(_outputs(folder), listed[number], way)))
        outputs += [replace(output, id=f"{folder}/{output.id}") for output in each]
    return CellResult(first.name, outputs)


def _outputs(folder: Path) -> Path:
    return folder / "estimators" / "outputs"
