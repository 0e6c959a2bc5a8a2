"""Did the reward help? Systems side by side as tables, pictures and examples: terminal, Markdown, one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlsum.compare.plots import draw_runs, read_metrics
from rlsum.pages.blocks import (
    Block,
    Contents,
    Example,
    Examples,
    Heading,
    Paragraph,
    section,
    signature_section,
)
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html, write
from rlsum.pages.pictures import Picture
from rlsum.pages.table import Cell, Table, p_text
from rlsum.records import Output, read_outputs
from rlsum.scoring.comparison import Comparison, Resampling, adjusted, compare, intervals
from rlsum.scoring.outputs import SystemScores, measure_properties, score_available
from rlsum.scoring.tables import difference_cell, metric_table, property_table

if TYPE_CHECKING:
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
class ComparisonReport:
    """Everything a reader sees. ``signatures`` maps metric -> signature; ``notes`` are paragraphs under the title."""

    title: str
    sections: tuple[Section, ...]
    pictures: tuple[Picture, ...] = ()
    examples: tuple[Example, ...] = ()
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


def report_blocks(report: ComparisonReport) -> list[Block]:
    """The report as blocks, for every format."""
    tables = [block for part in report.sections for block in section(part.title, *part.tables)]
    examples = (Examples(report.examples),) if report.examples else ()
    return [
        Heading(report.title, 1),
        *map(Paragraph, report.notes),
        Contents(),
        *tables,
        *section("Training", *report.pictures),
        *section("Examples", *examples),
        *signature_section(report.signatures.values()),
    ]


def write_report(report: ComparisonReport, folder: Path) -> Path:
    """Write ``index.html``, ``report.md`` and the pictures as PNG into ``folder``; returns the path of the page."""
    blocks = report_blocks(report)
    write(folder, {"index.html": to_html(blocks), "report.md": to_markdown(blocks) + "\n"}, blocks)
    return folder / "index.html"


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
