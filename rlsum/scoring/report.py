"""An evaluation in files: one HTML page, Markdown, LaTeX, CSV, JSON and a picture."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum.pages.blocks import Block, Bullets, Heading, section, signature_section
from rlsum.pages.latex import to_latex
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html, write
from rlsum.pages.pictures import COLOURS, Mode, Picture, drawn, short_name
from rlsum.pages.shown import Shown, frame
from rlsum.scoring.comparison import Comparison
from rlsum.scoring.evaluation import Evaluated, to_json
from rlsum.scoring.evaluation import report as summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES, DIFFERENCES, PICTURE = "scores.csv", "differences.csv", "differences.png"
FILES = ("report.html", "report.md", "report.tex", "report.json", SCORES, DIFFERENCES, PICTURE)


@dataclass(frozen=True, repr=False)
class Evaluation(Shown, Evaluated):
    """Systems evaluated, with their report."""

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """Tables of scores, properties and differences, then the signatures."""
        return summary(self, long_signatures)

    def to_frame(self) -> Any:
        """A row a system and metric: raw mean, its interval and the number of texts with a score."""
        rows = ((system, name, *mean) for system, row in self.metrics.items() for name, mean in row.items())
        return frame(("system", "metric", "mean", "low", "high", "n"), rows)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the report into ``folder`` as HTML, Markdown, LaTeX, CSV, JSON and, if systems are compared, PNG."""
        return write_report(self, Path(folder))


def report(evaluation: Evaluation) -> list[Block]:
    """What HTML and Markdown show: the tables of the terminal, a picture of the differences, and long signatures."""
    tables = [block for block in evaluation.blocks() if not isinstance(block, Bullets)]
    return [
        Heading("Scores of " + ", ".join(evaluation.outputs), 1),
        *tables,
        *(section("Differences", picture(evaluation.comparisons)) if evaluation.comparisons else []),
        *signature_section(evaluation.signatures.values()),
    ]


def write_report(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write every form of the report into ``folder``; returns the paths. One system has no picture."""
    blocks = report(evaluation)
    texts = {
        "report.html": to_html(blocks),
        "report.md": to_markdown(blocks) + "\n",
        "report.tex": to_latex(evaluation.tables) + "\n",
        "report.json": to_json(evaluation) + "\n",
    }
    (folder / PICTURE).unlink(missing_ok=True)  # of an earlier report
    written = write(folder, texts, blocks)
    for name, rows in ((SCORES, score_rows(evaluation)), (DIFFERENCES, difference_rows(evaluation))):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["" if value != value else value for value in row] for row in rows])
    return [*written, folder / SCORES, folder / DIFFERENCES]


def score_rows(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    """A row a system and metric or property, raw."""
    yield "system", "metric", "mean", "low", "high", "n"
    for system in evaluation.outputs:
        for name, mean in (*evaluation.metrics[system].items(), *evaluation.properties[system].items()):
            yield system, name, *mean
        for name, value in evaluation.corpus.get(system, {}).items():
            yield system, f"{name} of the corpus", value, "", "", len(evaluation.outputs[system])


def difference_rows(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    """A row a comparison, raw."""
    yield "system", "baseline", "metric", "difference", "low", "high", "n", "p", "p_holm"
    for item in evaluation.comparisons:
        yield item.system, item.baseline, item.metric, *item.interval, item.p, item.p_holm


def picture(comparisons: Sequence[Comparison]) -> Picture:
    """Every difference with its interval, times 100; the first on top."""
    defined = [item for item in comparisons if not math.isnan(item.interval.mean)]

    def draw(figure: Figure, _: Mode) -> None:
        axes = figure.add_subplot()
        for place, item in enumerate(defined):
            mean, low, high = (100 * value for value in item.interval[:3])
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2)
            axes.plot([mean], [place], "o", color=COLOURS[0])
        axes.axvline(0, color=COLOURS[-1], linewidth=1)
        axes.set_yticks(range(len(defined)), [short_name(f"{item.system}: {item.metric}") for item in defined])
        axes.invert_yaxis()
        axes.set_xlabel(f"difference from {short_name(comparisons[0].baseline)}, x 100")

    title = f"Differences from {comparisons[0].baseline}"
    return drawn("differences", title, "Mean difference and its 95% interval.", (7.0, 0.4 * len(defined) + 1.0), draw)
