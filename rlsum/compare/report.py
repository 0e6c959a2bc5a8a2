"""Did the reward help? Systems side by side as tables, pictures and examples: terminal, Markdown, one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlsum.compare import examples
from rlsum.compare.examples import Sample
from rlsum.compare.plots import draw_runs, read_metrics
from rlsum.pages.page import render
from rlsum.pages.pictures import Picture
from rlsum.pages.table import Cell, Table, p_text, show, to_markdown
from rlsum.records import Output, read_outputs
from rlsum.scoring.comparison import Comparison, Resampling, adjusted, compare, intervals
from rlsum.scoring.outputs import SystemScores, measure_properties, score_available
from rlsum.scoring.tables import difference_cell, metric_table, property_table

if TYPE_CHECKING:
    from rich.console import Console

    from rewards.base import Reward

CONVINCING = 0.01  # a gain counts as shown below this p-value


@dataclass(frozen=True)
class CellResult:
    """One system of a comparison: its outputs (or their file), and the run that trained it, if one did."""

    name: str
    outputs: Path | Sequence[Output]
    run: Path | None = None


@dataclass(frozen=True)
class Section:
    """The tables of one comparison (say, with beam search), and the numbers they were made from."""

    title: str
    tables: tuple[Table, ...]
    scores: tuple[SystemScores, ...]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Report:
    """Everything a reader sees. ``signatures`` maps metric -> signature; ``notes`` are paragraphs under the title."""

    title: str
    sections: tuple[Section, ...]
    pictures: tuple[Picture, ...] = ()
    samples: tuple[Sample, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_cell(cell: CellResult) -> list[Output]:
    """The outputs of a cell, read from their file if need be. Raises RecordError."""
    return read_outputs(cell.outputs) if isinstance(cell.outputs, Path) else list(cell.outputs)


def score_cell(
    cell: CellResult, rewards: Mapping[str, Reward], missing: Mapping[str, str] = MappingProxyType({})
) -> SystemScores:
    """Metrics and properties of one cell; metrics whose encoder is missing are named, not scored.

    ``missing`` maps metric -> reason for metrics that could not even be loaded. Raises RecordError for unreadable
    outputs.
    """
    outputs = read_cell(cell)
    metrics, not_here = score_available(outputs, rewards)
    ids = tuple(output.id for output in outputs)
    return SystemScores(cell.name, ids, metrics, measure_properties(outputs), {**missing, **not_here})


def build_section(
    title: str,
    scored: Sequence[SystemScores],
    trained: Mapping[str, str],
    *,
    start: str,
    control: str,
    resampling: Resampling | None = None,
) -> Section:
    """Systems beside each other.

    ``trained`` maps a system -> the reward it was trained on. Each of these is compared on that reward, item by item,
    with the system it started from (``start``) and with the one trained on as long without the reward (``control``);
    p-values are two-sided. Raises ValueError where ``start`` or ``control`` is not a system.
    """
    scores = {score.system: score for score in scored}
    for role, name in (("start", start), ("control", control)):
        if name not in scores:
            raise ValueError(f"{role}={name!r} is not among the systems: {', '.join(scores)}")
    resampling = resampling or Resampling()
    comparisons = adjusted(
        compare(scores[name], scores[other], reward, resampling)
        for name, reward in trained.items()
        if reward in scores[name].metrics
        for other in (start, control)
    )
    absent = {name: reason for score in scores.values() for name, reason in score.missing.items()}
    return Section(
        title,
        tables=(
            _verdicts(comparisons, start, control),
            metric_table(
                {name: intervals(score.metrics, resampling) for name, score in scores.items()},
                absent,
                "Every system by every metric, x 100",
                [_counts(scores.values(), resampling)],
            ),
            property_table(
                {name: intervals(score.properties, resampling) for name, score in scores.items()},
                "What the summaries are like",
                ["Most of a reward's gain can be length: read the scores beside it."],
            ),
        ),
        scores=tuple(scores.values()),
        comparisons=tuple(comparisons),
    )


def draw_cells(cells: Sequence[CellResult], metrics: Sequence[str], start: str | None = None) -> list[Picture]:
    """The pictures of the cells that have a run; ``start`` as in ``draw_runs``.

    Raises RecordError where a run has no readable metrics.
    """
    return draw_runs({cell.name: read_metrics(cell.run) for cell in cells if cell.run is not None}, metrics, start)


def print_report(report: Report, console: Console) -> None:
    """The report in a terminal; pictures are left to the page."""
    console.rule(report.title)
    for note in report.notes:
        console.print(note, markup=False)
    for section in report.sections:
        console.print(f"\n{section.title}", style="bold underline", markup=False)
        for table in section.tables:
            console.print()
            show(table, console)
    if report.samples:
        console.print(examples.to_rich(report.samples))
    for signature in report.signatures.values():
        console.print(signature, style="dim", markup=False, soft_wrap=True)


def report_markdown(report: Report, pictures: str | None = None) -> str:
    """The report as Markdown. ``pictures`` is the path from the document to the folder of PNG files, None for none."""
    blocks = [f"# {report.title}", *report.notes]
    for section in report.sections:
        blocks += [f"## {section.title}", *(to_markdown(table) for table in section.tables)]
    if pictures is not None:
        blocks += [picture.markdown(f"{pictures}/") for picture in report.pictures]
    if report.samples:
        blocks += ["## Examples", examples.to_markdown(report.samples)]
    if report.signatures:
        blocks += ["## Signatures", "\n".join(f"- `{signature}`" for signature in report.signatures.values())]
    return "\n\n".join(blocks) + "\n"


def write_page(report: Report, folder: str | Path) -> Path:
    """Write ``index.html``, which needs no other file, and the pictures as PNG beside it; returns the page's path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for picture in report.pictures:
        (folder / f"{picture.name}.png").write_bytes(picture.light)
    page = folder / "index.html"
    page.write_text(page_html(report), encoding="utf-8")
    return page


def page_html(report: Report) -> str:
    """The page: styles and pictures inside, every text escaped."""
    return render("compare/report.html", {"report": report})


def _verdicts(comparisons: Sequence[Comparison], start: str, control: str) -> Table:
    """One row a system trained on a reward: its gain on that reward over the start and over the control."""
    found = {(item.system, item.baseline): item for item in comparisons}
    rows = []
    for system in dict.fromkeys(item.system for item in comparisons):
        pair = [found[system, start], found[system, control]]
        gains = [cell for item in pair for cell in (difference_cell(item), _p_cell(item))]
        rows.append((Cell(system), Cell(pair[0].metric), *gains, _verdict(pair)))
    header = ("system", "trained on", f"gain over {start}", "p", f"gain over {control}", "p", "verdict")
    return Table(
        "Did the reward help?",
        header,
        tuple(rows),
        (
            "Each on the reward it was trained with, x 100, paired by article: mean difference with its interval; "
            "two-sided sign-flip permutation p, and adjusted for all comparisons of this table (Holm). "
            f"Better: above both, each with p < {CONVINCING}.",
        ),
    )


def _p_cell(comparison: Comparison) -> Cell:
    return Cell(p_text(comparison.p), f"Holm {p_text(comparison.p_holm)}")


def _verdict(pair: Sequence[Comparison]) -> Cell:
    """In words, and only as strong as the weaker of the two comparisons."""
    if all(item.p < CONVINCING and item.interval.mean > 0 for item in pair):
        return Cell("better", f"p < {CONVINCING}", mark=True)
    if any(item.p < CONVINCING and item.interval.mean < 0 for item in pair):
        return Cell("worse", f"p < {CONVINCING}", mark=True)
    return Cell("not shown")


def _counts(scores: Iterable[SystemScores], resampling: Resampling) -> str:
    sizes = sorted({len(score.ids) for score in scores})
    items = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    return (
        f"{items} articles; beneath each mean its {resampling.level:.0%} bootstrap interval "
        f"({resampling.resamples:,} resamples, seed {resampling.seed})."
    )
