"""How many items and judges does a study need? Simulated power of the very test that the analysis makes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from human_eval.files import read_object
from human_eval.formatting import counted, percentage
from human_eval.planning.scenarios import Scenario, check_range
from human_eval.planning.simulation import Assumptions, rejections
from human_eval.statistics.analysis import ALPHA, AnalysisSettings
from human_eval.statistics.exclusion import ExclusionRules
from rlsum.errors import UserError

ITEMS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500)
JUDGES = (1, 2, 3, 5)
DRAWS = 2_000
FORMAT = 1


@dataclass(frozen=True)
class PlannedDesign:
    """What the study is to find, and how.

    ``pairs`` of systems are compared on the ``primary`` criterion, each tested at ``alpha / pairs``, Holm's strictest
    step. ``items`` is None where the plan is to choose the fewest that reach ``power``.
    """

    primary: str = "overall"
    pairs: int = 1
    judges: int = 3
    items: int | None = None
    power: float = 0.8
    alpha: float = ALPHA
    rules: ExclusionRules = field(default_factory=ExclusionRules)


@dataclass(frozen=True)
class PowerCurve:
    """Power (k,) with so many ``judges`` an item, at each number of ``items`` (k,)."""

    judges: int
    items: tuple[int, ...]
    power: tuple[float, ...]

    def needed(self, power: float) -> int | None:
        """The fewest items that reach ``power``, between simulated points by a straight line; None beyond the last."""
        rising = np.maximum.accumulate(self.power)
        if rising[-1] < power:
            return None
        return int(np.ceil(np.interp(power, rising, self.items) - 1e-9)) if rising[0] < power else self.items[0]


@dataclass(frozen=True)
class ScenarioPower:
    """What the plan's items find in a ``scenario``, and the ``curve`` of its power over other numbers of items."""

    scenario: Scenario
    curve: PowerCurve
    power: float


@dataclass(frozen=True)
class StudyPlan:
    """A design with its ``items`` fixed, the power that it has, and the curves behind it.

    ``source`` says where the assumptions are from. ``needed``: judges an item -> the fewest items, None where more than
    the largest number tried. ``outlooks``: the scenarios of a table of assumptions, the one planned for first.
    """

    design: PlannedDesign
    assumptions: Assumptions
    source: str
    curves: tuple[PowerCurve, ...]
    power: float
    draws: int
    seed: int
    outlooks: tuple[ScenarioPower, ...] = ()

    @property
    def needed(self) -> dict[int, int | None]:
        """Judges an item -> the fewest items that reach the power asked for."""
        return {curve.judges: curve.needed(self.design.power) for curve in self.curves}


def plan(
    design: PlannedDesign, assumptions: Assumptions, *, source: str = "assumed", draws: int = DRAWS, seed: int = 0
) -> StudyPlan:
    """Simulate the power of ``design`` under ``assumptions``, and choose its items where it leaves them open.

    Raises UserError where no number of items tried reaches the power asked for, or an option makes no sense.
    """
    _check(design, assumptions)
    alpha = design.alpha / design.pairs
    counts = sorted({*JUDGES, design.judges})
    curves = tuple(power_curve(assumptions, judges, alpha=alpha, draws=draws, seed=seed) for judges in counts)
    chosen = next(curve for curve in curves if curve.judges == design.judges)
    items = design.items or chosen.needed(design.power)
    if items is None:
        asked = f"a preference of {percentage(assumptions.preference)} with {counted(design.judges, 'judge')} an item"
        raise UserError(
            f"{asked} is found with a probability of {max(chosen.power):.0%} at {ITEMS[-1]} items; ask for a larger "
            f"preference, more judges or less power than {design.power:.0%}, or fix --items"
        )
    found = rejections(assumptions, items, design.judges, alpha=alpha, draws=draws, seed=seed)
    return StudyPlan(replace(design, items=items), assumptions, source, curves, found.sign_flip, draws, seed)


def with_scenarios(made: StudyPlan, scenarios: Sequence[Scenario]) -> StudyPlan:
    """The plan with what it finds in each of ``scenarios``."""
    design, draws, seed = made.design, made.draws, made.seed
    assert design.items is not None  # a plan has fixed them
    alpha = design.alpha / design.pairs
    outlooks = []
    for each in scenarios:
        curve = power_curve(each.assumptions, each.judges, alpha=alpha, draws=draws, seed=seed)
        found = rejections(each.assumptions, design.items, each.judges, alpha=alpha, draws=draws, seed=seed)
        outlooks.append(ScenarioPower(each, curve, found.sign_flip))
    return replace(made, outlooks=tuple(outlooks))


def power_curve(
    assumptions: Assumptions, judges: int, *, alpha: float = ALPHA, draws: int = DRAWS, seed: int = 0
) -> PowerCurve:
    """The power with so many judges an item, at every number of items tried."""
    found = (rejections(assumptions, items, judges, alpha=alpha, draws=draws, seed=seed).sign_flip for items in ITEMS)
    return PowerCurve(judges, ITEMS, tuple(found))


def from_pilot(path: Path, criterion: str, preference: float) -> tuple[Assumptions, str]:
    """Ties and correlation (the mean over pairs) of a pilot's results.json, and in words where they are from.

    Raises UserError where the file has no such criterion, or too few votes to tell.
    """
    data = read_object(path, "give the results.json that `rlsum human-eval analyse` wrote")
    try:
        votes = [row["ties_half"] for row in data["preferences"] if row["criterion"] == criterion]
        found = [row["correlation"]["value"] for row in data["agreement"] if row["criterion"] == criterion]
        counts = [sum(row[side] for row in votes) for side in ("first", "tied", "second")]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: no {error}; give the results.json of an analysis") from error
    if not votes:
        asked = ", ".join(dict.fromkeys(row["criterion"] for row in data["preferences"]))
        raise UserError(f"{path}: no criterion {criterion!r}; there are {asked}")
    known = [correlation for correlation in found if correlation is not None]
    if not known or not counts[0] + counts[2]:
        raise UserError(
            f"{path}: too few votes on {criterion} to tell how judges of an item agree; state --correlation"
        )
    ties = counts[1] / sum(counts)
    source = f"ties and correlation of {counted(sum(counts), 'vote')} on {criterion} in {path.name}"
    return Assumptions(preference, ties, float(np.clip(np.mean(known), 0, 1))), source


def write_plan(path: Path, made: StudyPlan) -> None:
    """Write plan.json, which `settings_of` reads."""
    data = {"format": FORMAT, **asdict(made), "needed": made.needed}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def settings_of(path: Path, resamples: int, seed: int) -> AnalysisSettings:
    """How a study is to be analysed according to its plan.json. Raises UserError for a file that is none."""
    data = read_object(path, "give the plan.json that `rlsum human-eval plan` wrote")
    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r} is not {FORMAT}")
        design = data["design"]
        alpha = float(design["alpha"])
        if not 0 < alpha < 1:
            raise ValueError(f"alpha {alpha} is not between 0 and 1")
        return AnalysisSettings(str(design["primary"]), ExclusionRules(**design["rules"]), alpha, resamples, seed)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not a plan ({error}); give the plan.json of `rlsum human-eval plan`") from error


def _check(design: PlannedDesign, assumptions: Assumptions) -> None:
    """Raise UserError naming the first option that makes no sense."""
    for name in ("preference", "ties", "correlation"):
        check_range(f"--{name}", name, getattr(assumptions, name))
    check_range("--judges", "judges", design.judges)
    asked = (
        ("--power", design.power, 0 < design.power < 1, "between 0 and 1"),
        ("--alpha", design.alpha, 0 < design.alpha < 1, "between 0 and 1"),
        ("--pairs", design.pairs, design.pairs >= 1, "1 or more"),
        ("--items", design.items, design.items is None or design.items >= 1, "1 or more"),
    )
    for option, value, right, expected in asked:
        if not right:
            raise UserError(f"{option} {value}: expected a number {expected}")
