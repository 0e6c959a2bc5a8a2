"""``rlsum human-eval plan``: how many items and judges, and what is decided before anyone judges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from human_eval.planning.plan import StudyPlan
    from human_eval.planning.simulation import Assumptions

FILES = ("plan.json", "preregistration.md", "power.png")


def plan(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where plan.json, preregistration.md, power.png go.")
    ],
    preference: Annotated[
        float, typer.Option(help="The preference worth detecting: .6 is 60 to 40 among votes for one of the two.")
    ] = 0.6,
    ties: Annotated[float | None, typer.Option(help="Share of votes for no difference (default: 0).")] = None,
    correlation: Annotated[
        float | None, typer.Option(help="Correlation of two votes on one item (default: .3).")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(metavar="RESULTS.json", help="An earlier analysis: ties and correlation from it.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--assumptions",
            metavar="TABLE.csv",
            help="A row for each scenario, of columns scenario, preference, ties, correlation, judges; the first is "
            "planned for. What a row leaves open is as in the options, or the pilot.",
        ),
    ] = None,
    judges: Annotated[int, typer.Option(help="Judges of each item.")] = 3,
    items: Annotated[int | None, typer.Option(help="Items; left out, the fewest that reach the power.")] = None,
    power: Annotated[float, typer.Option(help="Probability with which the preference shall be found.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    pairs: Annotated[int, typer.Option(help="Pairs of systems compared on the primary criterion.")] = 1,
    primary: Annotated[str, typer.Option(help="The criterion that the study is about.")] = "overall",
    criteria: Annotated[
        str, typer.Option(help="All criteria, separated by commas.")
    ] = "non-redundancy,coherence,focus,overall",
    max_failed: Annotated[float, typer.Option(help="Leave out judges who fail more than this share of checks.")] = 0.5,
    min_seconds: Annotated[float, typer.Option(help="Leave out judges with a lower median time a task.")] = 0.0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files of FOLDER.")] = False,
    draws: Annotated[int, typer.Option(min=100, help="Studies simulated for each number of items and judges.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same power.")] = 0,
) -> None:
    """Say how many items and judges find a preference worth detecting, and write down what is decided beforehand.

    Studies are simulated and tested as `analyse` tests them. More judges of one item help less than more items, and the
    less the more their votes correlate.

    **Examples**

    rlsum human-eval plan -o plan --preference 0.65 --ties 0.2

    rlsum human-eval plan -o plan --pilot pilot/results.json --pairs 3

    rlsum human-eval plan -o plan --assumptions scenarios.csv
    """
    from human_eval.planning.plan import PlannedDesign, with_scenarios, write_plan
    from human_eval.planning.plan import plan as make
    from human_eval.planning.preregistration import preregistration
    from human_eval.planning.scenarios import read_scenarios
    from human_eval.report.pictures import power_picture
    from human_eval.statistics.exclusion import ExclusionRules
    from rlsum.cli.destination import check_folder
    from rlsum.errors import UserError

    check_folder("-o", out, FILES, overwrite)
    names = [name.strip() for name in criteria.split(",") if name.strip()]
    if primary not in names:
        raise UserError(f"--primary {primary}: is none of --criteria {', '.join(names)}")
    try:
        rules = ExclusionRules(max_failed=max_failed, min_seconds=min_seconds)
    except ValueError as error:
        raise UserError(f"--max-failed, --min-seconds: {error}") from error
    assumptions, source = _assumed(preference, ties, correlation, pilot, primary)
    scenarios = () if table is None else read_scenarios(table, assumptions, judges)
    if scenarios:
        first = scenarios[0]
        assumptions, judges = first.assumptions, first.judges
        source = f"{first.name}, the first of the scenarios" + (f"; {source}" if pilot else "")
    design = PlannedDesign(primary, pairs, judges, items, power, alpha, rules)
    made = with_scenarios(make(design, assumptions, source=source, draws=draws, seed=seed), scenarios)
    out.mkdir(parents=True, exist_ok=True)
    write_plan(out / "plan.json", made)
    (out / "preregistration.md").write_text(preregistration(made, names), encoding="utf-8")
    (out / "power.png").write_bytes(power_picture(made).light)
    _tell(made, out)


def _assumed(
    preference: float, ties: float | None, correlation: float | None, pilot: Path | None, primary: str
) -> tuple[Assumptions, str]:
    """What is assumed, and where it is from."""
    from human_eval.planning.plan import from_pilot
    from human_eval.planning.simulation import Assumptions
    from rlsum.errors import UserError

    if pilot is None:
        return Assumptions(preference, ties or 0.0, 0.3 if correlation is None else correlation), "assumed"
    if ties is not None or correlation is not None:
        raise UserError("--pilot gives ties and correlation; leave out --ties and --correlation, or --pilot")
    return from_pilot(pilot, primary, preference)


def _tell(made: StudyPlan, out: Path) -> None:
    from human_eval.formatting import counted, percentage

    design, assumed = made.design, made.assumptions
    typer.echo(
        f"A preference of {percentage(assumed.preference)} among votes for one of the two, {percentage(assumed.ties)} "
        f"ties, correlation {assumed.correlation:.2f} within items ({made.source}):"
    )
    for judges, items in made.needed.items():
        told = f"about {counted(items, 'item')}" if items is not None else f"more than {made.curves[0].items[-1]} items"
        typer.echo(f"  {counted(judges, 'judge')} an item: {told} for a power of {design.power:.0%}")
    if made.outlooks:
        _show_scenarios(made)
    typer.echo(
        f"The plan: {counted(design.items or 0, 'item')}, {counted(design.judges, 'judge')} each: a power of "
        f"{made.power:.0%}"
    )
    typer.echo(
        f"{out}: {', '.join(FILES)}; fill in the brackets and deposit preregistration.md before the first judgment"
    )


def _show_scenarios(made: StudyPlan) -> None:
    from rich.console import Console

    from human_eval.planning.preregistration import scenario_table
    from rlsum.pages.terminal import show

    show([scenario_table(made)], Console())
