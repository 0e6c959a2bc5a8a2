"""The verdict card of a study: terminal, one HTML page, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

from pathlib import Path

from human_eval.formatting import csv_text
from human_eval.report import results
from human_eval.report.errors import error_rows
from human_eval.report.findings import exploratory, findings, headline, material
from human_eval.report.pictures import preferences_picture
from human_eval.report.tables import all_tables, verdict_table
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import Analysis
from human_eval.votes.imported import judgments_of
from rlsum.pages.blocks import Block, Bullets, Heading, Paragraph, section, small_print
from rlsum.pages.formats import file_names, write_report

ROWS = {
    "preferences.csv": results.preference_rows,
    "agreement.csv": results.agreement_rows,
    "metrics.csv": results.metric_rows,
    "judges.csv": results.judge_rows,
    "votes.csv": results.vote_rows,
    "errors.csv": error_rows,
}
CARD = file_names("verdict")
JUDGED = "judged.jsonl"
FILES = (*CARD.values(), "results.json", "preferences.png", JUDGED, *ROWS)


def summary(analysis: Analysis) -> list[Block]:
    """What the terminal shows: the verdict, then findings and warnings, then methods."""
    return [
        Paragraph(headline(analysis)),
        Paragraph(exploratory(analysis)),
        verdict_table(analysis),
        Bullets(findings(analysis)),
        Bullets(warnings(analysis), "warning"),
        *small_print(material(analysis)),
    ]


def card(analysis: Analysis) -> list[Block]:
    """The whole card, with every table and the picture."""
    return [
        Heading(f"What judges prefer: {', '.join(analysis.votes.systems)}", 1),
        Paragraph(headline(analysis)),
        Paragraph(exploratory(analysis)),
        preferences_picture(analysis),
        *section("Findings", Bullets(findings(analysis))),
        *section("Warnings", Bullets(warnings(analysis), "warning")),
        *section("Verdict", verdict_table(analysis)),
        *section("Details", *all_tables(analysis)),
        *section("Methods", *small_print(material(analysis))),
    ]


def write_card(analysis: Analysis, folder: Path) -> None:
    """Write every form of the card, `FILES`, into ``folder``."""
    texts = {name: csv_text(rows(analysis)) for name, rows in ROWS.items()}
    texts["results.json"] = results.to_json(analysis) + "\n"
    texts[JUDGED] = "".join(row.to_json() + "\n" for row in judgments_of(analysis.kept))
    write_report(folder, CARD, card(analysis), texts)
