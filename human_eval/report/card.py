"""The verdict card of a study: terminal, one HTML page, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from human_eval.report import results
from human_eval.report.findings import findings, material, warnings
from human_eval.report.pictures import preferences_picture
from human_eval.report.tables import all_tables, verdict_table
from human_eval.spreadsheet import csv_text
from human_eval.statistics.analysis import Analysis
from rlsum.pages.page import render
from rlsum.pages.pictures import Picture
from rlsum.pages.table import Table, show, to_latex, to_markdown

if TYPE_CHECKING:
    from rich.console import Console

ROWS = {
    "preferences.csv": results.preference_rows,
    "agreement.csv": results.agreement_rows,
    "metrics.csv": results.metric_rows,
    "judges.csv": results.judge_rows,
    "votes.csv": results.vote_rows,
}
FILES = ("verdict.html", "verdict.md", "verdict.tex", "results.json", "preferences.png", *ROWS)


@dataclass(frozen=True)
class Card:
    """The words and tables of a verdict."""

    title: str
    material: list[str]
    findings: list[str]
    warnings: list[str]
    verdict: Table
    tables: list[Table]


def build_card(analysis: Analysis) -> Card:
    """All words and tables; draws nothing."""
    return Card(
        title=f"What people prefer: {', '.join(analysis.votes.systems)}",
        material=material(analysis),
        findings=findings(analysis),
        warnings=warnings(analysis),
        verdict=verdict_table(analysis),
        tables=list(all_tables(analysis)),
    )


def print_card(card: Card, console: Console) -> None:
    """The card in a terminal: the verdict and the words; tables behind it are in the files."""
    for line in card.material:
        console.print(line, style="dim", markup=False, highlight=False)
    console.print()
    show(card.verdict, console)
    console.print()
    for line in card.findings:
        console.print(f"- {line}", markup=False, highlight=False)
    for line in card.warnings:
        console.print(f"! {line}", style="yellow", markup=False, highlight=False)


def write_card(analysis: Analysis, folder: Path) -> list[Path]:
    """Write every form of the card into ``folder``; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    card, picture = build_card(analysis), preferences_picture(analysis)
    tables = [card.verdict, *card.tables]
    texts = {
        "verdict.html": render("report/card.html", {"card": card, "picture": picture}, "human_eval"),
        "verdict.md": to_markdown_page(card, picture),
        "verdict.tex": "\n\n".join(map(to_latex, tables)) + "\n",
        "results.json": results.to_json(analysis) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "preferences.png").write_bytes(picture.light)
    for name, rows in ROWS.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            file.write(csv_text(rows(analysis)))
    return [folder / name for name in FILES]


def to_markdown_page(card: Card, picture: Picture) -> str:
    """The card as Markdown; the picture lies beside it."""
    blocks = [f"# {card.title}", *card.material, "## What people said", _listed(card.findings)]
    blocks += ["## Careful", _listed(card.warnings)] if card.warnings else []
    blocks += ["## Verdict", picture.markdown(), to_markdown(card.verdict)]
    blocks += ["## Behind it", *map(to_markdown, card.tables)]
    page = "\n\n".join(blocks) + "\n"
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", page)  # Markdown lets tags through, and names of systems may be tags


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
