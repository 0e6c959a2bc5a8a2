"""How many items and judges does a study need? Simulated power of the very test that the analysis makes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from textwrap import fill

import numpy as np

from human_eval.analysis import ALPHA, Settings
from human_eval.exclusion import Rules
from human_eval.files import read_object
from human_eval.simulation import Assumptions, rejections
from rlsum.errors import UserError

ITEMS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500)
JUDGES = (1, 2, 3, 5)
DRAWS = 2_000
WIDTH = 100  # characters a line of the text to deposit
FORMAT = 1


@dataclass(frozen=True)
class Design:
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
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True)
class Curve:
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
class Plan:
    """A design with its ``items`` fixed, the power that it has, and the curves behind it.

    ``source`` says where the assumptions are from. ``needed``: judges an item -> the fewest items, None where more than
    the largest number tried.
    """

    design: Design
    assumptions: Assumptions
    source: str
    curves: tuple[Curve, ...]
    power: float
    draws: int
    seed: int

    @property
    def needed(self) -> dict[int, int | None]:
        """Judges an item -> the fewest items that reach the power asked for."""
        return {curve.judges: curve.needed(self.design.power) for curve in self.curves}


def plan(
    design: Design, assumptions: Assumptions, *, source: str = "assumed", draws: int = DRAWS, seed: int = 0
) -> Plan:
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
        raise UserError(
            f"a preference of {assumptions.preference:.0%} with {design.judges} judges an item is found with a "
            f"probability of {max(chosen.power):.0%} at {ITEMS[-1]} items; ask for a larger preference, more judges or "
            f"less power than {design.power:.0%}, or fix --items"
        )
    found = rejections(assumptions, items, design.judges, alpha=alpha, draws=draws, seed=seed)
    return Plan(replace(design, items=items), assumptions, source, curves, found.sign_flip, draws, seed)


def power_curve(
    assumptions: Assumptions, judges: int, *, alpha: float = ALPHA, draws: int = DRAWS, seed: int = 0
) -> Curve:
    """The power with so many judges an item, at every number of items tried."""
    found = (rejections(assumptions, items, judges, alpha=alpha, draws=draws, seed=seed).sign_flip for items in ITEMS)
    return Curve(judges, ITEMS, tuple(found))


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
    source = f"ties and correlation of {sum(counts)} votes on {criterion} in {path.name}"
    return Assumptions(preference, ties, float(np.clip(np.mean(known), 0, 1))), source


def write_plan(path: Path, made: Plan) -> None:
    """Write plan.json, which `settings_of` reads."""
    data = {"format": FORMAT, **asdict(made), "needed": made.needed}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def settings_of(path: Path, resamples: int, seed: int) -> Settings:
    """How a study is to be analysed according to its plan.json. Raises UserError for a file that is none."""
    data = read_object(path, "give the plan.json that `rlsum human-eval plan` wrote")
    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r} is not {FORMAT}")
        design = data["design"]
        alpha = float(design["alpha"])
        if not 0 < alpha < 1:
            raise ValueError(f"alpha {alpha} is not between 0 and 1")
        return Settings(str(design["primary"]), Rules(**design["rules"]), alpha, resamples, seed)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not a plan ({error}); give the plan.json of `rlsum human-eval plan`") from error


def preregistration(made: Plan, criteria: Sequence[str]) -> str:
    """The text to deposit before the first judgment, as Markdown; what only the authors know stands in brackets."""
    design, assumed = made.design, made.assumptions
    others = [criterion for criterion in criteria if criterion != design.primary]
    tested = "one comparison" if design.pairs == 1 else f"{design.pairs} comparisons"
    text = f"""# Pre-registration of a study with human judges

Fill in what stands in [brackets] and deposit this before the first judgment is made.

**Question.** Which of the systems [names] do people prefer? [Why this is asked.]

**Design.** {design.items} items, drawn at random with a seed from [the test set]; {tested} of two systems on each;
{design.judges} judges for each. Judges see the article and both texts without names, left and right balanced at random,
and answer: left, right, or no difference. Where both texts are equal nobody is asked and it counts as no difference.
Judges: [who, how found, how paid].

**Primary criterion.** {design.primary}: [its question, word for word]. Secondary: {", ".join(others) or "none"}.

**Test.** The item is the unit: its mean preference over its judges, a vote for no difference being half a vote for
each system. Two-sided sign-flip permutation test of these means at {design.alpha:g}; Holm's correction over all
comparisons on the primary criterion, and over those on all secondary criteria together. Reported with it: the share of
each system with a 95% interval (bootstrap of items), the same without the votes for no difference, and the agreement of
the judges. A p-value above {design.alpha:g} is reported as no difference detected, with the interval that says how
large a difference remains possible.

**Exclusions.** {_sentence(design.rules.told())} All preferences are also reported with nobody left out.

**Number of items.** {design.items} items with {design.judges} judges find a preference of
{assumed.preference:.0%} against {1 - assumed.preference:.0%} among votes for one of the two with a probability of
{made.power:.0%}, where {assumed.ties:.0%} of the votes are for neither and two votes on one item correlate by
{assumed.correlation:.2f} ({made.source}; {made.draws:,} simulated studies, seed {made.seed}, tested at
{design.alpha / design.pairs:.4g}).

**Stopping.** Judgments are collected until every comparison has its {design.judges} judges, and no later. Nobody looks
at which system is ahead before that.

**Date.** [date]"""
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in text.split("\n\n")) + "\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _check(design: Design, assumptions: Assumptions) -> None:
    """Raise UserError naming the first option that makes no sense."""
    asked = (
        ("--preference", assumptions.preference, 0.5 < assumptions.preference < 1, "above .5 and below 1"),
        ("--ties", assumptions.ties, 0 <= assumptions.ties < 1, "from 0 to below 1"),
        ("--correlation", assumptions.correlation, 0 <= assumptions.correlation <= 1, "from 0 to 1"),
        ("--power", design.power, 0 < design.power < 1, "between 0 and 1"),
        ("--alpha", design.alpha, 0 < design.alpha < 1, "between 0 and 1"),
        ("--pairs", design.pairs, design.pairs >= 1, "1 or more"),
        ("--judges", design.judges, design.judges >= 1, "1 or more"),
        ("--items", design.items, design.items is None or design.items >= 1, "1 or more"),
    )
    for option, value, right, expected in asked:
        if not right:
            raise UserError(f"{option} {value}: expected a number {expected}")
