"""``rlsum human-eval plan``: how many items and judges a study needs, and its pre-registration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console

from human_eval.formatting import counted, percentage
from rlsum.cli.options import Overwrite
from rlsum.errors import UserError
from rlsum.files import check_folder
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from human_eval.planning.plan import StudyPlan
    from human_eval.planning.simulation import Assumptions

FILES = ("plan.json", "preregistration.md", "power.png")


def plan(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for plan.json, preregistration.md, power.png.")
    ],
    preference: Annotated[
        float, typer.Option(help="Preference to detect: .6 means 60 to 40 among votes for one of the two systems.")
    ] = 0.6,
    ties: Annotated[float | None, typer.Option(help="Share of votes for no difference (default: 0).")] = None,
    correlation: Annotated[float | None, typer.Option(help="Correlation of votes on an item (default: .3).")] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the judges' own shares of a system (default: that of the pilot, or .1)."
        ),
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(metavar="RESULTS.json", help="An earlier analysis; sets ties, correlation and spread."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--assumptions",
            metavar="TABLE.csv",
            help="One row per scenario; columns scenario, preference, ties, correlation, spread, judges. It is planned "
            "for the first row. Options or the pilot give empty cells.",
        ),
    ] = None,
    judges: Annotated[int, typer.Option(help="Judges per item.")] = 3,
    booklet: Annotated[int, typer.Option(help="Most pairs for one judge, as in `build`.")] = 20,
    about: Annotated[
        str, typer.Option(help="Whom the verdict is about: 'judges like these', or 'these judges' alone.")
    ] = "judges like these",
    items: Annotated[int | None, typer.Option(help="Items (default: the fewest that reach the power).")] = None,
    power: Annotated[float, typer.Option(help="Probability of detecting the preference.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Significance level of the test.")] = 0.05,
    pairs: Annotated[int, typer.Option(help="Pairs of systems compared on the primary criterion.")] = 1,
    answers: Annotated[str, typer.Option(help="What judges answer, as in `build`.")] = "pair",
    texts: Annotated[int, typer.Option(help="Systems shown at once, up to 5 where answers are not about a pair.")] = 2,
    primary: Annotated[str, typer.Option(help="Primary criterion.")] = "overall",
    criteria: Annotated[
        str, typer.Option(help="All criteria, separated by commas.")
    ] = "non-redundancy,coherence,focus,overall",
    max_failed: Annotated[
        float | None,
        typer.Option(help="Exclude judges who fail more than this share of checks (default: as `build` states)."),
    ] = None,
    min_seconds: Annotated[float, typer.Option(help="Exclude judges whose median time per task is below this.")] = 0.0,
    attrition: Annotated[
        float, typer.Option(help="Share of people who begin and do not finish, or fail a training round.")
    ] = 0.0,
    excluded: Annotated[float, typer.Option(help="Share of people who finish and whom the rules will exclude.")] = 0.0,
    minutes: Annotated[float, typer.Option(help="Minutes of a task: an article, two summaries and the answers.")] = 3.0,
    checks: Annotated[int, typer.Option(help="Checks for each person, as in `build`.")] = 5,
    pay: Annotated[float | None, typer.Option(help="Pay an hour, in any currency.")] = None,
    fee: Annotated[float, typer.Option(help="What a platform adds, as a share of the pay, such as 0.33.")] = 0.0,
    overwrite: Overwrite = False,
    draws: Annotated[int, typer.Option(min=100, help="Simulated studies for each number of items and judges.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
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

    rlsum human-eval plan -o plan --items 64 --attrition 0.15 --excluded 0.1 --minutes 3 --pay 12 --fee 0.33
    """
    from human_eval.planning.plan import PlannedDesign, write_plan
    from human_eval.planning.plan import plan as make
    from human_eval.planning.preregistration import preregistration
    from human_eval.planning.recruitment import Effort
    from human_eval.planning.scenarios import read_scenarios
    from human_eval.report.pictures import power_picture
    from human_eval.statistics.analysis import About
    from human_eval.statistics.exclusion import ExclusionRules

    check_folder("out", out, FILES, overwrite)
    names = [name.strip() for name in criteria.split(",") if name.strip()]
    if primary not in names:
        raise UserError(f"--primary {primary}: not one of --criteria {', '.join(names)}")
    effort = Effort(attrition, excluded, minutes, checks, pay, fee)
    rules = ExclusionRules(max_failed=max_failed, min_seconds=min_seconds)
    assumptions, source = _assumed(preference, ties, correlation, spread, pilot, primary)
    scenarios = () if table is None else read_scenarios(table, assumptions, judges)
    if scenarios:
        first = scenarios[0]
        assumptions, judges = first.assumptions, first.judges
        source = f"{first.name}, the first of the scenarios" + (f"; {source}" if pilot else "")
    asked = cast(About, about), answers, texts
    design = PlannedDesign(primary, pairs, judges, items, power, alpha, rules, booklet, *asked)
    planned = make(design, assumptions, scenarios, effort=effort, source=source, draws=draws, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    write_plan(out / "plan.json", planned)
    (out / "preregistration.md").write_text(preregistration(planned, names), encoding="utf-8")
    (out / "power.png").write_bytes(power_picture(planned).light)
    _report(planned, out)


def _assumed(
    preference: float,
    ties: float | None,
    correlation: float | None,
    spread: float | None,
    pilot: Path | None,
    primary: str,
) -> tuple[Assumptions, str]:
    from human_eval.planning.plan import SPREAD, from_pilot
    from human_eval.planning.simulation import Assumptions

    if pilot is None:
        correlation, spread = 0.3 if correlation is None else correlation, SPREAD if spread is None else spread
        return Assumptions(preference, ties or 0.0, correlation, spread), "assumed"
    if ties is not None or correlation is not None:
        raise UserError("--ties, --correlation: --pilot already gives them; leave out these options, or --pilot")
    return from_pilot(pilot, primary, preference, spread)


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
        typer.echo(f"Warning: the verdict about {design.about} will have no test ({reason}); plan for more")
    typer.echo(f"{in_words(planned.effort, planned.recruitment)}")
    if planned.recruitment.spare:
        typer.echo(f"Build the study with --spare {planned.recruitment.spare}")
    typer.echo(f"{out}: {', '.join(FILES)}; fill in preregistration.md and deposit it before the first judgment")
