"""``rlsum human-eval plan``: how many items and judges a study needs, and its pre-registration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass
from rich.console import Console

from human_eval.formatting import counted, percentage
from human_eval.planning.assumptions import SPREAD, Assumptions
from human_eval.planning.design import PlannedDesign
from human_eval.planning.recruitment import Effort
from human_eval.votes.exclusion import ExclusionRules
from rlsum.cli.options import Overwrite, expanded
from rlsum.errors import UserError
from rlsum.files import check_folder
from rlsum.pages.terminal import show
from rlsum.parsing import options_checked
from rlsum.sections import left_open, names_of

if TYPE_CHECKING:
    from human_eval.planning.plan import StudyPlan

CRITERIA = "non-redundancy,coherence,focus,overall"


@dataclass(frozen=True)
class Assumed(left_open(Assumptions)):  # type: ignore[misc]
    """What is to be detected, and what is assumed of votes, as far as a pilot or a table does not say it."""

    ELSE: ClassVar = ""

    pilot: Path | None = Field(default=None, title="RESULTS.json")
    """an earlier analysis; sets ties, correlation and spread"""
    assumptions: Path | None = Field(default=None, title="TABLE.csv")
    """one row a scenario; columns scenario, preference, ties, correlation, spread, judges. The study is planned for the
    first row. Options or the pilot give empty cells"""


FILES = ("plan.json", "preregistration.md", "power.png")


@expanded
def plan(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help=f"Folder for {', '.join(FILES)}.")],
    how: Assumed,
    design: PlannedDesign,
    criteria: Annotated[str, typer.Option(help="All criteria, separated by commas.")] = CRITERIA,
    draws: Annotated[int, typer.Option(min=100, help="Simulated studies for each number of items and judges.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    effort: Effort,
    rules: ExclusionRules,
    overwrite: Overwrite = False,
) -> None:
    """Compute how many items and judges detect a given preference, and write a pre-registration.

    Power comes from simulated studies, tested as `analyse` tests them. More items help more than more judges per item,
    the more so the higher the correlation of votes on an item. More people help if their preferences differ (--spread):
    fewer pairs for each (--booklet) make more people. People to recruit, hours and money follow.

    **Examples**

    rlsum human-eval plan -o plan --preference 0.65 --ties 0.2

    rlsum human-eval plan -o plan --pilot pilot/results.json --pairs 3

    rlsum human-eval plan -o plan --assumptions scenarios.csv

    rlsum human-eval plan -o plan --answers ranking --texts 4 --pairs 6

    rlsum human-eval plan -o plan --items 64 --attrition 0.15 --excluded 0.1 --pay 12 --fee 0.33
    """
    from human_eval.planning.plan import plan as make
    from human_eval.planning.scenarios import read_scenarios

    check_folder("out", out, FILES, overwrite)
    names = [name.strip() for name in criteria.split(",") if name.strip()]
    if design.primary not in names:
        raise UserError(f"--primary {design.primary}: not one of --criteria {', '.join(names)}")
    with options_checked():
        assumptions, source = _assumptions(how, design.primary)
    scenarios = () if how.assumptions is None else read_scenarios(how.assumptions, assumptions, design.judges)
    if scenarios:
        assumptions, design = scenarios[0].assumptions, replace(design, judges=scenarios[0].judges)
        source = f"{scenarios[0].name}, the first of the scenarios" + (f"; {source}" if how.pilot else "")
    planned = make(design, assumptions, scenarios, effort=effort, rules=rules, source=source, draws=draws, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in zip(FILES, _contents(planned, names), strict=True):
        (out / name).write_bytes(content)
    _report(planned, out)


def _contents(planned: StudyPlan, criteria: Sequence[str]) -> tuple[bytes, ...]:
    """The content of each of `FILES`."""
    from human_eval.planning.plan import plan_json
    from human_eval.planning.preregistration import preregistration
    from human_eval.report.pictures import power_picture

    return plan_json(planned).encode(), preregistration(planned, criteria).encode(), power_picture(planned).light


def _assumptions(how: Assumed, primary: str) -> tuple[Assumptions, str]:
    """The assumptions, and where they come from in words."""
    from human_eval.planning.plan import from_pilot

    given = {name: value for name in names_of(Assumptions) if (value := getattr(how, name)) is not None}
    if how.pilot is None:
        return Assumptions(**{"spread": SPREAD, **given}), "assumed"
    return from_pilot(how.pilot, primary, given)


def _report(planned: StudyPlan, out: Path) -> None:
    from human_eval.planning.preregistration import scenario_table
    from human_eval.planning.recruitment import in_words

    design, assumed = planned.design, planned.assumptions
    typer.echo(
        f"A preference of {percentage(assumed.preference)} among votes for one of the two, {percentage(assumed.ties)} "
        f"ties, correlation {assumed.correlation:.2f} within items, a standard deviation of {assumed.spread:.2f} of "
        f"the judges' own shares ({planned.source}), and a verdict about {design.about}:"
    )
    for judges, items in planned.needed.items():
        most = planned.curves[0].items[-1]
        needed = f"more than {most} items"
        if items is not None:
            people = counted(design.people(items, judges), "person", "people")
            tasks = counted(judges * design.tasks(items), "task")
            needed = f"about {counted(items, 'item')}, {tasks}, {people},"
        typer.echo(f"  {counted(judges, 'judge')} per item: {needed} for a power of {design.power:.0%}")
    if planned.outlooks:
        show([scenario_table(planned)], Console())
    people = counted(design.people(design.items or 0, design.judges), "person", "people")
    typer.echo(
        f"The plan: {counted(design.items or 0, 'item')}, {counted(design.judges, 'judge')} each, {people} in all, "
        f"power {planned.power:.0%}"
    )
    if reason := design.refused(design.items or 0, design.judges):
        typer.echo(f"Warning: no preference will be claimed: {reason}; or a verdict --about 'these judges' alone")
    typer.echo(f"{in_words(planned.effort, planned.recruitment)}")
    if planned.recruitment.spare:
        typer.echo(f"Build the study with --spare {planned.recruitment.spare}")
    typer.echo(f"{out}: {', '.join(FILES)}; fill in preregistration.md and deposit it before the first judgment")
