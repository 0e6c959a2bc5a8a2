"""From a comparison to its cells: what is trained, from what, and by which commands. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rlsum.compare.config import CONTROLS, SIMULATED, Comparison, options
from rlsum.objective import mean_gamma
from rlsum.yaml_files import merge

Kind = Literal["outputs", "start", "control", "reward", "choosing"]
START, NONE = "start", "none"
ASSUMED_ADVANTAGE = -0.1  # of the constant control, until the run that it is a control of is trained


@dataclass(frozen=True)
class Cell:
    """One model of a seed, or one file of outputs: a row of the tables together with its other seeds.

    system        name of the row: ``start``, a control, ``reward`` or ``reward.variant``
    seed          of its training; None: the same for all seeds
    reward        name of the reward that it is trained on, or whose control it is
    model         run or checkpoint that writes the summaries; None: outputs of another system
    config        the run's configuration; None: nothing is trained
    after         names of the cells that must be trained before; the first is the start
    """

    system: str
    seed: int | None
    kind: Kind
    reward: str | None = None
    model: str | None = None
    config: Mapping[str, Any] | None = None
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its files."""
        return self.system if self.seed is None else f"{self.system}-{self.seed}"

    @property
    def title(self) -> str:
        """The name of its row for readers."""
        name, _, variant = self.system.partition(".")
        return "continued likelihood" if name == NONE else f"{name} ({variant})" if variant else name

    @property
    def constant(self) -> bool:
        """Whether all its samples have the mean advantage of the last cell in ``after``."""
        return self.config is not None and self.config.get("objective", {}).get("control") == "constant"


def is_rewarded(system: str) -> bool:
    """Whether a system that was trained has this name from its reward, and is no start or control."""
    return system not in (START, NONE) and system.rpartition(".")[2] not in CONTROLS


def cells_of(comparison: Comparison) -> list[Cell]:
    """Every cell, starts first, then seed by seed; a cell stands after all that it needs."""
    outputs = [Cell(name, None, "outputs") for name in given_outputs(comparison)]
    rest = [cell for seed in comparison.seeds for cell in _of_seed(comparison, seed)]
    return [*starts(comparison), *rest, *outputs]


def given_outputs(comparison: Comparison) -> dict[str, Path]:
    """Row -> file of outputs that no cell writes; the simulator writes those of the lead and of the oracle."""
    simulated = SIMULATED if comparison.simulate is not None else ()
    folder = Path(comparison.folder) / "data"
    return {name: folder / f"{name}.jsonl" for name in simulated} | {
        name: Path(path) for name, path in comparison.outputs.items()
    }


def starts(comparison: Comparison) -> list[Cell]:
    """The start of each seed, or the one start of all seeds."""
    start = comparison.start
    if isinstance(start, dict):
        made = []
        for seed in comparison.seeds:
            run = _run(comparison, f"{START}-{seed}")
            config = merge(start, _shared(comparison) | {"run": run, "training": {"seed": seed}})
            made.append(Cell(START, seed, "start", None, run, config))
        return made
    if "{seed}" in start:
        return [Cell(START, seed, "start", None, start.replace("{seed}", str(seed))) for seed in comparison.seeds]
    return [Cell(START, None, "start", None, start)]


def _of_seed(comparison: Comparison, seed: int) -> Iterator[Cell]:
    start = next(cell for cell in starts(comparison) if cell.seed in (seed, None))
    first = next(iter(comparison.rewards))

    def trained(system: str, kind: Kind, reward: str, over: Mapping[str, Any], *after: str) -> Cell:
        name = f"{system}-{seed}"
        config = _cell_config(comparison, name, seed, reward, over)
        return Cell(system, seed, kind, reward, config["run"], config, (start.name, *after))

    variants = comparison.variants or {"": {}}
    measured, shared = next(iter(variants.items()))  # of controls: the first variant

    def system(reward: str, variant: str) -> str:
        return f"{reward}.{variant}" if variant else reward

    if "none" in comparison.controls:
        yield trained(NONE, "control", first, merge(shared, _without_reward(merge(comparison.cell, shared))))
    for reward in comparison.rewards:
        for variant, over in variants.items():
            yield trained(system(reward, variant), "reward", reward, over)
    for reward in comparison.control_rewards:
        for control in (name for name in CONTROLS if name in comparison.controls):
            assumed = {"control_advantage": ASSUMED_ADVANTAGE} if control == "constant" else {}
            after = [f"{system(reward, measured)}-{seed}"] if assumed else []
            over = merge(shared, {"objective": {"control": control, **assumed}})
            yield trained(f"{reward}.{control}", "control", reward, over, *after)
    for name in comparison.choosing:
        yield Cell(name, seed, "choosing", None, start.model, None, (start.name,))


def _without_reward(config: Mapping[str, Any]) -> dict[str, Any]:
    """What continued likelihood changes: gamma is 0, and coverage keeps its weight relative to the likelihood."""
    objective = config.get("objective", {})
    likelihood = 1 - mean_gamma(objective)  # its mean weight
    if "coverage_weight" not in objective or not likelihood:
        return {"objective": {"gamma": 0.0, "gamma_end": None}}
    weight = round(objective["coverage_weight"] / likelihood, 6)
    return {"objective": {"gamma": 0.0, "gamma_end": None, "coverage_weight": weight}}


def _run(comparison: Comparison, name: str) -> str:
    return str(Path(comparison.folder) / "runs" / name)


def _shared(comparison: Comparison) -> dict[str, Any]:
    """The keys that all runs share."""
    folder = Path(comparison.folder) / "data"
    written = {split: str(folder / f"{split}.jsonl") for split in ("train", "valid")} if comparison.simulate else {}
    return {"data": written | comparison.data, **({"language": comparison.language} if comparison.language else {})}


def _cell_config(comparison: Comparison, name: str, seed: int, reward: str, over: Mapping[str, Any]) -> dict[str, Any]:
    """``cell`` with the seed and the reward, then ``over``. Validation measures all rewards of the comparison."""
    trained = comparison.rewards[reward]
    scale = {} if trained.scale is None else {"reward_scale": trained.scale}
    settings = _shared(comparison) | {
        "run": _run(comparison, name),
        "training": {"seed": seed},
        "objective": {"reward": trained.reward, **scale},
        "metrics": [entry.reward for entry in comparison.rewards.values()],
    }
    return merge(merge(comparison.cell, settings), dict(over))


# ---- commands -------------------------------------------------------------------------------------------------------


def typed(comparison: Comparison, command: Sequence[str]) -> list[str]:
    """The words that run an ``rlsum`` command: the launcher, if there is one, starts trainings."""
    launcher = shlex.split(comparison.launcher) if command[0] == "train" else []
    return [*launcher, "-m", "rlsum", *command] if launcher else ["rlsum", *command]


def train_command(comparison: Comparison, cell: Cell, cells: Iterable[Cell]) -> list[str]:
    """``rlsum train`` of a cell that is trained, without ``rlsum`` itself."""
    config = Path(comparison.folder) / "configs" / f"{cell.name}.yaml"
    start = next((str(before.model) for before in cells if cell.after and before.name == cell.after[0]), None)
    return ["train", str(config), *(["--init", start] if start is not None else [])]


def generate_command(comparison: Comparison, cell: Cell, method: str) -> list[str]:
    """``rlsum generate`` of a cell's summaries by a way of decoding, without ``rlsum`` itself."""
    assert cell.model is not None
    out = outputs_file(comparison, cell, method)
    how = comparison.choosing[cell.system] if cell.kind == "choosing" else comparison.decoding[method]
    limit = [] if comparison.test_limit is None else ["--limit", str(comparison.test_limit)]
    split = [] if comparison.test_split == "test" else ["--split", comparison.test_split]
    target = [cell.model, comparison.test_articles, "-o", str(out), "--system", cell.title]
    draws = ["--seed", str(cell.seed)] if cell.kind == "choosing" else []  # seeds may share a start
    return ["generate", *target, *draws, *options(how), *limit, *split]


def methods_of(comparison: Comparison, cell: Cell) -> Sequence[str]:
    """The ways in which a cell's model is decoded: all, or the first alone where nothing is searched for."""
    methods = list(comparison.decoding)
    return methods if cell.kind not in ("choosing", "outputs") else methods[:1]


def outputs_file(comparison: Comparison, cell: Cell, method: str) -> Path:
    """The file of a cell's summaries."""
    if cell.kind == "outputs":
        return given_outputs(comparison)[cell.system]
    return Path(comparison.folder) / "outputs" / f"{cell.name}.{method}.jsonl"


def commands_of(comparison: Comparison, cell: Cell, cells: Sequence[Cell]) -> list[list[str]]:
    """The ``rlsum`` commands that make a cell, in order."""
    if cell.kind == "outputs":
        return []
    train = [train_command(comparison, cell, cells)] if cell.config is not None else []
    return [*train, *(generate_command(comparison, cell, method) for method in methods_of(comparison, cell))]
