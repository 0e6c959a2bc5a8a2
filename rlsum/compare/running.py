"""A comparison from its configuration to its report."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING
from pathlib import Path
from typing import Any

from rich.console import Console

from rlsum.compare import costs, preflight, simulated
from rlsum.compare.cells import Cell, cells_of
from rlsum.compare.config import Comparison, load
from rlsum.compare.folder import Folder
from rlsum.compare.report.page import write_report
from rlsum.compare.scoring import changed, read_scores, unsettled
from rlsum.compare.status import watching
from rlsum.compare.work import Work
from rlsum.errors import UserError, option
from rlsum.pages.blocks import Block
from rlsum.pages.shown import Shown, frame
from rlsum.pages.table import joined
from rlsum.pages.terminal import show
from rlsum.readers.understood import quietly, say
from rlsum.yaml_files import Overrides, written

REPORT = "report"


@dataclass(frozen=True, repr=False)
class Compared(Shown):
    """What of a comparison is finished; ``failed``: cell -> why. Its page is ``report/index.html`` in ``folder``."""

    folder: Path
    report: tuple[Block, ...]
    failed: Mapping[str, str]

    def blocks(self, long_signatures: bool = True) -> list[Block]:
        """The report."""
        return list(self.report)

    def to_frame(self) -> Any:
        """A row for each way of decoding, system, seed and metric or property: its raw mean and number of articles."""
        text = (self.folder / REPORT / "scores.csv").read_text(encoding="utf-8")
        header, *rows = csv.reader(io.StringIO(text))
        table = frame(header, rows)
        return table.assign(mean=table["mean"].replace("", "nan").astype(float), articles=table["articles"].astype(int))


def compare(
    config: str | Path | Comparison,
    overrides: Overrides = (),
    *,
    jobs: int = 2,
    report_only: bool = False,
    retry: bool = False,
    task: int | None = None,
    timed: bool = True,
) -> Compared:
    """Train on each of several rewards from one start, and report which is better by which metric.

    A stopped comparison continues when the same call is made again. ``report_only``: train nothing, score files of
    outputs that were added. ``retry``: try failed cells again. ``task``: one cell alone, without a report. ``timed``:
    first measure and print what all cells will cost, except for a task: each of an array would measure the same.
    Cells are processes that start Python anew; prints them as they begin and end.
    """
    comparison = config if isinstance(config, Comparison) else _read(Path(config), overrides)
    console, folder, cells = Console(), Folder(comparison), cells_of(comparison)
    chosen = cells if task is None else needed(cells, task)
    failed: Mapping[str, str] = {}
    expected: dict[str, float] = {}
    folder.claim()
    if report_only:
        chosen = [cell for cell in chosen if unscored(folder, cell, retry)]
        warn_of_old_scores(folder, cells, chosen)
    else:
        simulated.prepare(folder)
        if not all(folder.trained(cell) for cell in chosen):
            preflight.check(comparison, cells)
            if timed and task is None:
                cost = costs.costs(folder, cells, preflight.count_of_articles(comparison, cells), console)
                show(preflight.plan(comparison, cells, cost, jobs), console)
                expected = {name: cell_cost.update for name, cell_cost in cost.items()}
            folder.claim()  # again: until something is made, another configuration may have taken the folder
    if chosen:
        with watching(folder, chosen, console, expected) as watch, quietly():
            failed = Work(folder, cells, chosen, jobs, retry).run(watch)
    if task is not None:
        return Compared(folder.path, (), failed)
    try:
        with quietly(), folder.lock(REPORT, wait=True):
            return Compared(folder.path, tuple(write_report(folder, cells, failed)), failed)
    except OSError as error:
        fix = f"nothing is lost: make room, and add {option('report_only', True)}"
        raise UserError(f"{folder.path / REPORT}: cannot be written ({error.strerror}); {fix}") from error


def _read(config: Path, overrides: Overrides) -> Comparison:
    """A comparison of a file. Raises UserError for a function that only this process has."""
    changes = written(overrides)
    if named := next((text for text in changes if '"__main__:' in text), None):
        fix = "put the function in a file of its own; cells are processes that start Python anew"
        raise UserError(f"{named}: a function of this script or notebook, which no other process has; {fix}")
    return load(config, changes)


def unscored(folder: Folder, cell: Cell, retry: bool) -> bool:
    """Whether a cell is a file of outputs that was given and not yet scored, or failed if it is tried again."""
    complete = all(path.exists() for path in folder.outputs(cell).values())
    stages = ("waiting", "failed") if retry else ("waiting",)
    return cell.kind == "outputs" and complete and folder.state(cell).stage in stages


def warn_of_old_scores(folder: Folder, cells: Sequence[Cell], rescored: Sequence[Cell]) -> None:
    """Name the summaries that changed after they were scored, and the metrics that did, or were added."""
    files = [(cell, method) for cell in cells for method in folder.outputs(cell) if cell not in rescored]
    texts = [cell.name for cell, method in files if folder.outdated(cell, method)]
    scores = [read_scores(path) for cell, method in files if (path := folder.scores(cell, method)).exists()]
    specs = folder.comparison.scored
    metrics = [name for file in scores for name in (*changed(file, specs), *unsettled(file, specs))]
    for what, names in (("summaries changed", texts), ("metrics came, or their files are others,", metrics)):
        if names:
            listed = joined(list(dict.fromkeys(names)))
            fix = f"without {option('report_only', True)} they are scored"
            say(f"{folder.path}: {what} after scores were made: {listed}; {fix}", WARNING)


def needed(cells: Sequence[Cell], task: int) -> list[Cell]:
    """A cell and those that it needs, in order. Raises UserError for a number without a cell."""
    if task >= len(cells):
        raise UserError(
            f"{option('task', task)}: there are {len(cells)} tasks, numbered from 0; `rlsum compare --tasks` lists them"
        )
    names = {cells[task].name}
    for cell in reversed(cells):  # a cell stands after all that it needs
        if cell.name in names:
            names.update(cell.after)
    return [cell for cell in cells if cell.name in names]
