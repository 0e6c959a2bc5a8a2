"""The tables among blocks as a LaTeX document that compiles as it stands; papers take tables and preamble from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from rlsum.pages.blocks import Block, unfolded
from rlsum.pages.table import DASH, Cell, Table

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    DASH: "--",
    "\N{MINUS SIGN}": "$-$",
    **{character: "\\" + character for character in "&%$#_{}"},
    **{character: f"{{{character}}}" for character in "[*"},  # \\ would take them, at the start of the next row
}
MINUS = re.compile(r"(?<![\w.)-])-(?=\.?\d)")
# What pdflatex knows beside Latin-1, of T1; the rest needs a Unicode engine.
KNOWN = "ĂăĄąĆćČčĎďĐđĘęĚěĞğĹĺĽľŁłŃńŇňŊŋŐőŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽžŒœİı…—\u2018\u2019“”€"
PREAMBLE = r"""\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,graphicx,iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\usepackage{textcomp}\else\usepackage{fontspec}\fi
% A table that is wider than the line is scaled to it.
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}"""


def to_latex(blocks: Iterable[Block]) -> str:
    """Every table, with details after its values and notes beneath; other blocks are left out.

    With pdflatex a letter beyond European ones in Latin script prints as its number in Unicode; lualatex and xelatex
    know all that the font has.
    """
    tables = "\n\n".join(_table(block) for block in unfolded(blocks) if isinstance(block, Table))
    unknown = sorted({ord(character) for character in tables if ord(character) > 0xFF and character not in KNOWN})
    named = "".join(rf"\DeclareUnicodeCharacter{{{code:04X}}}{{(U+{code:04X})}}" + "%\n" for code in unknown)
    preamble = f"{PREAMBLE}\n\\ifPDFTeX\n{named}\\fi" if named else PREAMBLE
    return f"{preamble}\n\\begin{{document}}\n\n{tables}\n\n\\end{{document}}"


def _table(table: Table) -> str:
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{_escaped(table.caption)}}}",
        rf"\fitted{{\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        _row(map(_escaped, table.header)),
        r"\midrule",
        *(_row(map(_cell, row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}}",
        *(rf"\par\footnotesize {_escaped(note)}" for note in table.notes),
        r"\end{table}",
        r"\clearpage",
    ]
    return "\n".join(lines)


def _row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{_escaped(cell.text)}}}" if cell.mark else _escaped(cell.text)
    return rf"{text} {{\scriptsize ({_escaped(cell.detail)})}}" if cell.detail else text


def _escaped(text: str) -> str:
    """A text on one line, with true minus signs before numbers and every sign of LaTeX as it is."""
    line = MINUS.sub("\N{MINUS SIGN}", " ".join(_printable(text).split()))
    return "".join(
        "{}-" if pair == ("-", "-") else ESCAPES.get(pair[1], pair[1])  # two hyphens are no dash
        for pair in pairwise(f" {line}")
    )


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
