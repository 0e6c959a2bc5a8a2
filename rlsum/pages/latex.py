"""The tables among blocks as LaTeX for the booktabs package."""

from __future__ import annotations

from collections.abc import Iterable

from rlsum.pages.blocks import Block, unfolded
from rlsum.pages.table import DASH, Cell, Table

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    DASH: "--",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def to_latex(blocks: Iterable[Block]) -> str:
    """Every table, with details after its values and notes beneath; other blocks are left out."""
    return "\n\n".join(_table(block) for block in unfolded(blocks) if isinstance(block, Table))


def _table(table: Table) -> str:
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(table.caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        _row(map(_escaped, table.header)),
        r"\midrule",
        *(_row(map(_cell, row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_escaped(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{_escaped(cell.text)}}}" if cell.mark else _escaped(cell.text)
    return rf"{text} {{\scriptsize ({_escaped(cell.detail)})}}" if cell.detail else text


def _escaped(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)
