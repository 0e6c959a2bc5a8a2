"""How many items and judges does a study need? Simulated power of the tests that the analysis uses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast, get_args

import numpy as np

from human_eval.answers import KINDS
from human_eval.formatting import counted, percentage
from human_eval.planning.assumptions import SPREAD, Assumptions
from human_eval.planning.design import PlannedDesign
from human_eval.planning.graded import draw_graded
from human_eval.planning.recruitment import Effort, Recruitment, recruitment
from human_eval.planning.scenarios import Scenario
from human_eval.planning.simulation import blocks, claimed, draw_judged
from human_eval.statistics.settings import LIKE_THESE, THESE, About, AnalysisSettings, Planned
from human_eval.votes.exclusion import ExclusionRules
from rlsum.errors import UserError
from rlsum.evaluation.statistics import USUAL, Uncertainty
from rlsum.readers import json_object

ITEMS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500)
JUDGES = (1, 2, 3, 5)
DRAWS = 2_000
FORMAT = 1


@dataclass(frozen=True)
class PowerCurve:
    """``power`` (k,) for a number of ``judges`` per item, at each number of ``items`` (k,)."""

    judges: int
    items: tuple[int, ...]
    power: tuple[float, ...]

    def needed(self, power: float) -> int | None:
        """The fewest items that reach ``power``, linearly interpolated; None if the largest number does not.

        Not between a power of 0 and another one: a number with too few people or items for a test is no start.
        """
        rising = np.maximum.accumulate(self.power)
        if rising[-1] < power:
            return None
        tested = rising > 0
        # The power at the first number stands for all smaller ones: interpolation gives the first number for them.
        return int(np.ceil(np.interp(power, rising[tested], np.array(self.items)[tested]) - 1e-9))


@dataclass(frozen=True)
class ScenarioPower:
    """The ``power`` of the planned items in a ``scenario``, and the ``curve`` of its power over numbers of items."""

    scenario: Scenario
    curve: PowerCurve
    power: float


@dataclass(frozen=True)
class StudyPlan:
    """A design with a number of items, its power, and power curves for several numbers of judges.

    ``source``: the origin of the assumptions, in words. ``outlooks``: power in the scenarios of a table, the planned
    scenario first. ``effort``: what is assumed of people; ``rules``: which judges will be excluded.
    """

    design: PlannedDesign
    assumptions: Assumptions
    source: str
    curves: tuple[PowerCurve, ...]
    power: float
    draws: int
    seed: int
    outlooks: tuple[ScenarioPower, ...] = ()
    effort: Effort = field(default_factory=Effort)
    rules: ExclusionRules = field(default_factory=ExclusionRules)

    @property
    def recruitment(self) -> Recruitment:
        """People, minutes and money."""
        design, items = self.design, self.design.items or 0
        return recruitment(self.effort, design.tasks(items), design.judges, design.booklets(items))

    @property
    def needed(self) -> dict[int, int | None]:
        """Judges per item -> the fewest items that reach the power of the design; None for more than were simulated."""
        return {curve.judges: curve.needed(self.design.power) for curve in self.curves}


def plan(
    design: PlannedDesign,
    assumptions: Assumptions,
    scenarios: Sequence[Scenario] = (),
    *,
    effort: Effort | None = None,
    rules: ExclusionRules | None = None,
    source: str = "assumed",
    draws: int = DRAWS,
    seed: int = 0,
) -> StudyPlan:
    """Simulate the power of ``design`` under ``assumptions`` and in ``scenarios``; choose its items if they are None.

    Raises UserError if no simulated number of items reaches the power, or for an invalid option.
    """
    _check(design, [assumptions, *(row.assumptions for row in scenarios)])
    simulated = partial(simulated_power, design, draws=draws, seed=seed)

    def curve(assumed: Assumptions, judges: int) -> PowerCurve:
        power: list[float] = []
        for items in ITEMS:  # a power of 1 stays 1 with more items
            power.append(1.0 if power and power[-1] == 1 else simulated(assumed, items, judges))
        return PowerCurve(judges, ITEMS, tuple(power))

    curves = {judges: curve(assumptions, judges) for judges in sorted({*JUDGES, design.judges})}
    chosen = curves[design.judges]
    items = design.items or chosen.needed(design.power)
    if items is None and (reason := design.refused(ITEMS[-1], design.judges)):
        raise UserError(f"--booklet {design.booklet}: no preference would be claimed: {reason}, or --about '{THESE}'")
    if items is None:
        raise UserError(
            f"--power {design.power}: a preference of {percentage(assumptions.preference)} with "
            f"{counted(design.judges, 'judge')} per item has a power of {max(chosen.power):.0%} at {ITEMS[-1]} items; "
            "give a larger preference, more judges, smaller booklets or less power, or set --items"
        )
    outlooks = tuple(
        ScenarioPower(row, curve(row.assumptions, row.judges), simulated(row.assumptions, items, row.judges))
        for row in scenarios
    )
    power, design = simulated(assumptions, items, design.judges), replace(design, items=items)
    people = effort or Effort(), rules or ExclusionRules()
    return StudyPlan(design, assumptions, source, tuple(curves.values()), power, draws, seed, outlooks, *people)


def simulated_power(
    design: PlannedDesign, assumptions: Assumptions, items: int, judges: int, *, draws: int, seed: int
) -> float:
    """The share of simulated studies whose card claims the preference, at the strictest step of Holm's correction.

    0 where an analysis will have no test.
    """
    if design.refused(items, judges):
        return 0.0
    assigned, generator = design.assigned(items, judges), np.random.default_rng(seed)
    tested = {"alike": design.about == LIKE_THESE, "alpha": design.alpha / design.pairs, "generator": generator}
    graded = partial(draw_graded, answers=design.answers, texts=design.texts)
    draw = draw_judged if KINDS[design.answers].is_vote else graded
    claims = 0
    for studies in blocks(draws, assigned.size * design.texts):
        votes = draw(assumptions, assigned=assigned, draws=studies, generator=generator)
        claims += int(claimed(votes[None], assigned, **tested).preferred.sum())
    return claims / draws


def from_pilot(path: Path, criterion: str, given: Mapping[str, float]) -> tuple[Assumptions, str]:
    """Ties, correlation and spread (means over pairs) in a pilot's results.json, and their source in words.

    A ``given`` spread replaces that of the pilot. The default is used if the pilot had too few judges to estimate one.

    Raises UserError if ties or correlation are given, too, or the file lacks the criterion or has too few votes.
    """
    if given.keys() & {"ties", "correlation"}:
        raise UserError("--ties, --correlation: --pilot already gives them; leave out these options, or --pilot")
    data = json_object(path, "give the results.json that `rlsum human-eval analyse` wrote", UserError)
    try:
        rows = [row for row in data["preferences"] if row["criterion"] == criterion]
        first, tied, second = (sum(row["ties_half"][side] for row in rows) for side in ("first", "tied", "second"))
        alike = [row["judges_like_these"]["unadjusted"] for row in rows]
        spreads = [row["spread"] for row in alike if row["p"] is not None]
        correlations = [row["correlation"]["value"] for row in data["agreement"] if row["criterion"] == criterion]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: no {error}; give the results.json of an analysis") from error
    if not rows:
        criteria = ", ".join(dict.fromkeys(row["criterion"] for row in data["preferences"]))
        raise UserError(f"{path}: no criterion {criterion!r}; give one of {criteria}")
    known = [correlation for correlation in correlations if correlation is not None]
    if not known or not first + second:
        raise UserError(f"{path}: too few votes on {criterion} to estimate the correlation; give --correlation")
    votes = first + tied + second
    source = f"ties and correlation of {counted(votes, 'vote')} on {criterion} in {path.name}"
    estimated = {"ties": tied / votes, "correlation": float(np.clip(np.mean(known), 0, 1)), "spread": SPREAD}
    if spreads and "spread" not in given:
        estimated["spread"] = float(np.clip(np.mean(spreads), 0, 0.49))
        source += ", as is the spread of judges"
    return Assumptions(**{**estimated, **given}), source


def plan_json(plan: StudyPlan) -> str:
    """The text of plan.json, which `settings_of` reads."""
    data = {"format": FORMAT, **asdict(plan), "needed": plan.needed, "recruitment": asdict(plan.recruitment)}
    data["design"]["rules"] = data.pop("rules")
    return json.dumps(data, indent=2) + "\n"


def settings_of(path: Path, how: Uncertainty = USUAL) -> AnalysisSettings:
    """The settings of the analysis from plan.json. Raises UserError for another file."""
    data = json_object(path, "give the plan.json that `rlsum human-eval plan` wrote", UserError)
    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r} is not {FORMAT}")
        design = data["design"]
        rules = ExclusionRules(**design.pop("rules"))
        planned = PlannedDesign(**design)
        items, spare = int(planned.items or 0), int(data["recruitment"]["spare"])
        people = planned.people(items, planned.judges)
        kept = Planned(
            items=items,
            judges=planned.judges,
            pairs=planned.pairs,
            people=people,
            about=cast(About, planned.about),
            spare=spare,
            answers=planned.answers,
        )
        made = str(planned.primary), rules, float(planned.alpha), kept
        return AnalysisSettings(*made, **vars(how))
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise UserError(f"{path}: not a plan ({error}); give the plan.json of `rlsum human-eval plan`") from error


def _check(design: PlannedDesign, assumed: Sequence[Assumptions]) -> None:
    """Raise UserError naming the first invalid option."""
    if any(row.preference == 0.5 for row in assumed):
        raise UserError("--preference 0.5: is none; give more, such as 0.6")
    if design.about not in get_args(About):
        raise UserError(f"--about {design.about!r}: expected one of {', '.join(get_args(About))}")
    if design.answers not in KINDS:
        raise UserError(f"--answers {design.answers}: expected one of {', '.join(KINDS)}")
    least, most = KINDS[design.answers].texts
    if not least <= design.texts <= most:
        expected = f"{least} to {most}" if least < most else str(least)
        raise UserError(f"--texts {design.texts}: expected {expected} at once with --answers {design.answers}")
    if design.texts > 2 and design.pairs > design.texts * (design.texts - 1) // 2:
        raise UserError(f"--pairs {design.pairs}: more than {design.texts} systems have; give less")
