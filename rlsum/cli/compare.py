"""``rlsum compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rlsum import api
from rlsum.cli.options import print_keys
from rlsum.errors import ConfigError
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.compare.config import Comparison
    from rlsum.compare.running import Compared


def compare(
    config: Annotated[Path | None, typer.Argument(help="YAML file of the comparison, or its name.")] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, such as seeds=[1,2].")] = None,
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Cells at a time; each trains in one thread, and scores in its share of the cores."),
    ] = 2,
    plan: Annotated[bool, typer.Option("--plan", help="Check all, print tasks and cost, train nothing.")] = False,
    pilot: Annotated[
        Path | None, typer.Option(help="With --plan: results.json of an earlier comparison, for its variances.")
    ] = None,
    gain: Annotated[float, typer.Option(min=0.01, help="With --plan: the gain to show, in points (x 100).")] = 1.0,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Train nothing, score added files of outputs, write the report.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed cells and missing metrics again.")] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="Print the tasks, one cell a line.")] = False,
    task: Annotated[int | None, typer.Option(min=0, help="Only this task and its needs, for arrays of jobs.")] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Explain the keys of a comparison, and stop.")] = False,
) -> None:
    """Train a summarizer on each of several rewards from one start, and report which is better by which metric.

    Every cell (reward x variant x seed, and controls) is a run of its own. A stopped comparison continues when the same
    command is run again, and several processes on one folder share its cells. Writes FOLDER/report/index.html, and the
    same as Markdown, LaTeX, CSV and JSON.

    **Examples**

    rlsum compare compare/demo

    rlsum compare compare/demo seeds=[1,2] folder=runs/compare/two --jobs 4

    rlsum compare articles-compare.yaml --plan

    rlsum compare --keys

    sbatch --array 0-17 --wrap 'rlsum compare compare/demo --task $SLURM_ARRAY_TASK_ID'
    """
    from rlsum.compare import config as configs
    from rlsum.compare.cells import cells_of
    from rlsum.config_reference import keys_of

    if keys:
        print_keys("comparison", keys_of(configs.Comparison))
        return
    if config is None:
        raise ConfigError("CONFIG is missing: name a YAML file, or a comparison of `rlsum configs`")
    comparison = configs.load(config, overrides or [])
    if tasks:
        for number, cell in enumerate(cells_of(comparison)):
            typer.echo(f"{number}\t{cell.name}")
    elif plan:
        show_plan(comparison, jobs, pilot, gain)
    else:
        show_compared(api.compare(comparison, jobs=jobs, report_only=report_only, retry=retry, task=task))


def show_plan(comparison: Comparison, jobs: int, pilot: Path | None, gain: float) -> None:
    """Check a comparison and print its tasks, their cost, and the power for a gain in points."""
    from rlsum.compare import costs, preflight, simulated
    from rlsum.compare.cells import cells_of
    from rlsum.compare.folder import Folder
    from rlsum.compare.report.designs import pilot_variances

    variances = pilot_variances(pilot)
    folder, cells = Folder(comparison), cells_of(comparison)
    folder.claim()
    simulated.prepare(folder)
    preflight.check(comparison, cells)
    console = Console()
    cost = costs.costs(folder, cells, preflight.count_of_articles(comparison, cells), console)
    show(preflight.plan(comparison, cells, cost, jobs, variances, gain / 100), console)


def show_compared(compared: Compared) -> None:
    """Print why cells failed, and the report. Ends with exit code 1 if a cell failed, as jobs of a cluster must."""
    console = Console()
    for name, why in compared.failed.items():
        console.print(f"{name}: {why}", style="yellow", markup=False, highlight=False)
    if compared.report:
        show(compared.report, console)
        console.print(f"\nreport: {compared.folder / 'report' / 'index.html'}", markup=False, highlight=False)
    if compared.failed:
        raise typer.Exit(1)
