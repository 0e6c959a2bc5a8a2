"""Blocks as GitHub Markdown; a picture is a PNG file in the same folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rlsum.pages.blocks import (
    LEGEND,
    Beside,
    Block,
    Bullets,
    Contents,
    Example,
    Examples,
    Fold,
    Heading,
    Paragraph,
    unfolded,
)
from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Cell, Table

MARKS = {"plain": "{}", "copied": "**{}**", "invented": "~~{}~~", "own": "*{}*"}


def to_markdown(blocks: Iterable[Block]) -> str:
    """The blocks as Markdown, without a newline at the end. Tags in names are text, not HTML."""
    return "\n\n".join(text for block in unfolded(blocks) if (text := _block(block)))


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {_text(text)}"
        case Paragraph(text):
            return _text(text)
        case Bullets(lines, kind):
            return "\n".join(f"- `{line}`" if kind == "code" else f"- {_text(line)}" for line in lines)
        case Table():
            return _table(block)
        case Picture():
            image = f"![{_text(block.title)}]({block.name}.png)"
            return f"{image}\n\n{_text(block.note)}" if block.note else image
        case Examples(examples, note):
            signs = {"Bold": "copied", "Struck out": "invented", "Italic": "own"}
            legend = " ".join(f"{sign}: {LEGEND[mark]}." for sign, mark in signs.items())  # type: ignore[index]
            return "\n\n".join([note, *map(_example, examples), legend])
        case Contents() | Fold() | Beside():
            return ""


def _text(text: str) -> str:
    """Markdown lets HTML tags through, and a name may be a tag."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _table(table: Table) -> str:
    lines = [f"**{_text(table.caption)}**", "", _row(table.header)]
    lines.append("|" + "|".join(" --: " if column else " :-- " for column in range(len(table.header))) + "|")
    lines += [_row(map(_cell, row)) for row in table.rows]
    lines += [line for note in table.notes for line in ("", _text(note))]
    return "\n".join(lines)


def _row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(_text(text).replace("|", "\\|") for text in texts) + " |"


def _cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.mark else cell.text
    return f"{text} ({cell.detail})" if cell.detail else text


def _example(example: Example) -> str:
    lines = [f"**Example {_escaped(example.id)}**", f"*reference:* {_escaped(example.reference)}"]
    for name, pieces in example.summaries.items():
        marked = (MARKS[piece.mark].format(_escaped(piece.text)) for piece in pieces)
        lines.append(f"*{_escaped(name)}:* " + "".join(marked))
    return "\n\n".join(lines)


def _escaped(text: str) -> str:
    """A text on one line, with every character that Markdown would read as markup escaped."""
    return re.sub(r"([\\`*_~\[\]<>|#])", r"\\\1", re.sub(r"[ \t]*\n", " / ", text))
