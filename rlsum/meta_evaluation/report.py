"""A meta-evaluation for readers: terminal, one HTML page, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.scoring import short_signature
from rlsum.meta_evaluation.evaluation import Results
from rlsum.meta_evaluation.findings import findings, material, warnings
from rlsum.meta_evaluation.pictures import heat_map, scatter
from rlsum.meta_evaluation.results import ROWS, correlation_rows, to_json
from rlsum.meta_evaluation.tables import correlation_table, group_table, matrix_table, pairs_table
from rlsum.pages.blocks import Block, Bullets, Fold, Heading, section, signature_section, small_print
from rlsum.pages.latex import to_latex
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html, write
from rlsum.pages.shown import Shown, frame
from rlsum.pages.table import Table

FILES = ("report.html", "report.md", "report.tex", "report.json", *ROWS)


@dataclass(frozen=True, repr=False)
class MetaEvaluation(Shown, Results):
    """All statistics of a table, with their report."""

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """Tables, findings, warnings and signatures."""
        return summary(self, long_signatures)

    def to_frame(self) -> Any:
        """A correlation a row: metrics, lengths and judges, each group and the whole."""
        header, *rows = correlation_rows(self)
        return frame(header, rows)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the report into ``folder`` as HTML, Markdown, LaTeX, CSV, JSON and pictures; returns the paths."""
        return write_report(self, Path(folder))


def summary(evaluation: Results, long_signatures: bool = True) -> list[Block]:
    """What the terminal shows: tables first, conclusions last, where a reader looks; its tables are those of LaTeX."""
    signatures = _signatures(evaluation)
    matrices = [matrix_table(result) for result in evaluation.results if result.tested]
    return [
        *small_print(material(evaluation)),
        *_correlations(evaluation),
        *matrices,
        Bullets(findings(evaluation)),
        Bullets(warnings(evaluation), "warning"),
        Bullets(signatures if long_signatures else [short_signature(text) for text in signatures], "code"),
    ]


def report(evaluation: Results) -> list[Block]:
    """What HTML and Markdown show: conclusions first, and pictures."""
    tested = [result for result in evaluation.results if result.tested]
    pairs = [Fold(f"{table.caption}: all pairs", (table,)) for table in map(pairs_table, tested)]
    return [
        Heading(f"Do the metrics agree with people? {evaluation.table.name}: {evaluation.table.score}", 1),
        *small_print(material(evaluation)),
        *section("Findings", Bullets(findings(evaluation))),
        *section("Warnings", Bullets(warnings(evaluation), "warning")),
        *section("Correlations", *_correlations(evaluation)),
        *section("Metrics against people", scatter(evaluation.table)),
        *section("Between metrics", *map(heat_map, tested), *pairs),
        *signature_section(_signatures(evaluation)),
    ]


def write_report(evaluation: Results, folder: Path) -> list[Path]:
    """Write every form of the report, and the pictures as PNG, into ``folder``; returns the paths."""
    blocks = report(evaluation)
    texts = {
        "report.html": to_html(blocks),
        "report.md": to_markdown(blocks) + "\n",
        "report.tex": to_latex(summary(evaluation)) + "\n",
        "report.json": to_json(evaluation) + "\n",
    }
    written = write(folder, texts, blocks)
    for name, rows in ROWS.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows(evaluation))
    return [*written, *(folder / name for name in ROWS)]


def _correlations(evaluation: Results) -> list[Table]:
    grouped = evaluation.results if evaluation.choices.average is not None else ()
    return [correlation_table(evaluation), *(group_table(result) for result in grouped)]


def _signatures(evaluation: Results) -> list[str]:
    return [f"{label}: {column.signature}" for label, column in evaluation.table.columns.items()]
