"""Tables of scores as text: built once, shown in a terminal, as Markdown, or by a page template.

Scores are shown times 100, properties in their own unit, and a mean always with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlsum.evaluation.statistics import Interval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

SCALE = 100  # what a score in [0, 1] is multiplied by for reading; files and JSON hold raw scores
DASH = "\N{EN DASH}"
UNDEFINED = DASH
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    DASH: "--",
    **{character: "\\" + character for character in "&%$#_{}"},
}


@dataclass(frozen=True)
class Cell:
    """One cell: what to read first, and beneath it the small print. ``mark`` asks the eye to stop here."""

    text: str
    detail: str = ""
    mark: bool = False


@dataclass(frozen=True)
class Table:
    """A table ready to be shown. Every row has as many cells as ``header`` has names; the first names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def interval_cell(interval: Interval, scale: float, digits: int, mark: bool = False) -> Cell:
    """Mean above, interval beneath, both times ``scale``."""
    if math.isnan(interval.mean):
        return Cell(UNDEFINED)
    text = f"{interval.mean * scale:.{digits}f}"
    if math.isnan(interval.low):
        return Cell(text, "one item", mark)
    return Cell(text, f"{interval.low * scale:.{digits}f}{DASH}{interval.high * scale:.{digits}f}", mark)


def p_text(p: float) -> str:
    """A p-value with four digits, as many as 10,000 resamples can tell."""
    return UNDEFINED if math.isnan(p) else f"{p:.4f}"


def show(table: Table, console: Console) -> None:
    """Print the table. One wider than the terminal runs over its edge: a column left out would be worse."""
    console.print(to_rich(table), crop=False)


def to_rich(table: Table) -> RichTable:
    """The table for a terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    rich = RichTable(
        title=escape(table.caption),
        title_justify="left",
        title_style="bold",
        caption=escape("\n".join(table.notes)) or None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
    )
    for place, name in enumerate(table.header):
        if place == 0:
            rich.add_column(escape(name), overflow="fold", min_width=_least_width(table, place, 20))
        else:
            rich.add_column(escape(name), overflow="fold", min_width=_least_width(table, place, 80), justify="right")
    for row in table.rows:
        rich.add_row(*(_rich_cell(cell, escape(cell.text), escape(cell.detail)) for cell in row))
    return rich


def _least_width(table: Table, place: int, most: int) -> int:
    """Columns fold at spaces in a narrow terminal, never within a word or between the numbers of an interval."""
    texts = [table.header[place], *(text for row in table.rows for text in (row[place].text, row[place].detail))]
    whole = [text if place and text[:1] in "+-(0123456789" else max(text.split(), key=len) for text in texts if text]
    return min(most, max(map(len, whole)))


def _rich_cell(cell: Cell, text: str, detail: str) -> str:
    first = f"[bold]{text}[/bold]" if cell.mark else text
    return f"{first}\n[dim]{detail}[/dim]" if detail else first


def to_markdown(table: Table) -> str:
    """The table as GitHub Markdown, caption first and notes beneath; ends without a newline."""
    lines = [f"**{table.caption}**", "", _markdown_row(table.header)]
    lines.append("|" + "|".join(" :-- " if place == 0 else " --: " for place in range(len(table.header))) + "|")
    lines += [_markdown_row(_markdown_cell(cell) for cell in row) for row in table.rows]
    lines += [line for note in table.notes for line in ("", note)]
    return "\n".join(lines)


def to_latex(table: Table) -> str:
    """The table as LaTeX for the booktabs package, small print behind each value and notes beneath."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        _latex_row(_latex(name) for name in table.header),
        r"\midrule",
        *(_latex_row(_latex_cell(cell) for cell in row) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_latex(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_latex(cell.text)}}}" if cell.mark else _latex(cell.text)
    return rf"{text} {{\scriptsize ({_latex(cell.detail)})}}" if cell.detail else text


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.mark else cell.text
    return f"{text} ({cell.detail})" if cell.detail else text


def _markdown_row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
