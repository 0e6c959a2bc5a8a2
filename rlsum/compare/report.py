"""The report of a comparison: tables, pictures and examples of every system."""

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
from rlsum.scoring.outputs import SystemScores, score_system
from rlsum.scoring.tables import difference_cell, metric_table, property_table

if TYPE_CHECKING:
    from rewards.base import Reward

CONVINCING = 0.01  # p-value below which a gain counts as shown


@dataclass(frozen=True)
class SystemOutputs:
    """One system of a comparison: its outputs or their file, and the run that trained it, if one did."""

    name: str
    outputs: Path | Sequence[Output]
    run: Path | None = None

    def read(self) -> list[Output]:
        """The outputs. Raises RecordError where their file is unreadable."""
        return read_outputs(self.outputs) if isinstance(self.outputs, Path) else list(self.outputs)

    def score(self, metrics: Mapping[str, Reward], missing: Mapping[str, str] = MappingProxyType({})) -> SystemScores:
        """The scores of the outputs; ``missing`` as in `score_system`."""
        return score_system(self.name, self.read(), metrics, missing)


@dataclass(frozen=True)
class ComparisonSection:
    """The tables of one comparison (say, with beam search), and the numbers they show."""

    title: str
    tables: tuple[Table, ...]
    scores: tuple[SystemScores, ...]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class ComparisonReport:
    """The content of a report. ``signatures`` maps metric -> signature; ``notes`` are paragraphs below the title."""

    title: str
    sections: tuple[ComparisonSection, ...]
    pictures: tuple[Picture, ...] = ()
    examples: tuple[Example, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def build_section(
    title: str,
    scored: Sequence[SystemScores],
    trained: Mapping[str, str],
    *,
    start: str,
    control: str,
    resampling: Resampling | None = None,
) -> ComparisonSection:
    """Tables of all systems, and tests of those that were trained on a reward.

    ``trained`` maps a system -> the reward it was trained on. Each is compared on that reward, item by item, with the
    system it started from (``start``) and with the one trained equally long without the reward (``control``); p-values
    are two-sided. Raises ValueError where ``start`` or ``control`` is not a system.
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
    metrics = {name: intervals(score.metrics, resampling) for name, score in scores.items()}
    properties = {name: intervals(score.properties, resampling) for name, score in scores.items()}
    missing = {name: reason for score in scores.values() for name, reason in score.missing.items()}
    warning = "A longer summary can score higher by its length alone: compare the lengths, too."
    counts = f"{_articles(scored)}; {resampling.note}."
    return ComparisonSection(
        title,
        tables=(
            _verdict_table(comparisons, start, control),
            metric_table(metrics, missing, "Every system by every metric, x 100", [counts]),
            property_table(properties, "Properties of the summaries", [warning]),
        ),
        scores=tuple(scores.values()),
        comparisons=tuple(comparisons),
    )


def draw_training(systems: Sequence[SystemOutputs], metrics: Sequence[str], start: str | None = None) -> list[Picture]:
    """The pictures of the systems that have a run; ``start`` as in ``draw_runs``.

    Raises RecordError where a run has no readable metrics.
    """
    runs = {system.name: read_metrics(system.run) for system in systems if system.run is not None}
    return draw_runs(runs, metrics, start)


def report_blocks(report: ComparisonReport) -> list[Block]:
    """The report for every format."""
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


def _verdict_table(comparisons: Sequence[Comparison], start: str, control: str) -> Table:
    """A row for each system trained on a reward: its gain on that reward over the start and over the control."""
    by_pair = {(item.system, item.baseline): item for item in comparisons}
    rows = []
    for system in dict.fromkeys(item.system for item in comparisons):
        pair = [by_pair[system, start], by_pair[system, control]]
        gains = [cell for item in pair for cell in (difference_cell(item), _p_cell(item))]
        rows.append((Cell(system), Cell(pair[0].metric), *gains, _verdict(pair)))
    note = (
        "Each system on the reward it was trained on, x 100, paired by article: mean difference with its interval; p "
        "of the two-sided sign-flip permutation test, and adjusted for all comparisons of this table (Holm). Better: "
        f"above both, each with p < {CONVINCING}."
    )
    header = ("system", "trained on", f"gain over {start}", "p", f"gain over {control}", "p", "verdict")
    return Table("Did the reward help?", header, tuple(rows), (note,))


def _p_cell(comparison: Comparison) -> Cell:
    return Cell(p_text(comparison.p), f"Holm {p_text(comparison.p_holm)}")


def _verdict(pair: Sequence[Comparison]) -> Cell:
    """As strong as the weaker of the two comparisons."""
    if all(item.p < CONVINCING and item.interval.mean > 0 for item in pair):
        return Cell("better", f"p < {CONVINCING}", mark=True)
    if any(item.p < CONVINCING and item.interval.mean < 0 for item in pair):
        return Cell("worse", f"p < {CONVINCING}", mark=True)
    return Cell("not shown")


def _articles(scores: Iterable[SystemScores]) -> str:
    sizes = sorted({len(score.ids) for score in scores})
    return " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1]))) + " articles"
