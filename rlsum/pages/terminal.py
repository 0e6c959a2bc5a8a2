"""Blocks in a terminal; pictures and contents are left out."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from rlsum.pages.blocks import LEGEND, Block, Bullets, Contents, Example, Examples, Heading, Paragraph, unfolded
from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Cell, Table

BULLETS = {"finding": ("- ", ""), "warning": ("! ", "yellow"), "code": ("", "dim")}
PIECES = {"plain": "", "copied": "bold green", "invented": "bold red underline", "own": "italic"}


def show(blocks: Iterable[Block], console: Console) -> None:
    """Print the blocks, with a blank line between kinds. A table too wide for the terminal runs over its edge."""
    previous: type[Block] | None = None
    for block in _printable(blocks):
        if previous is not None and (previous is not type(block) or isinstance(block, Table)):
            console.print()
        _print(block, console)
        previous = type(block)


def as_text(blocks: Iterable[Block]) -> str:
    """What `show` prints, without colours, at most 110 characters wide."""
    console = Console(file=io.StringIO(), width=110, color_system=None, force_jupyter=False)
    with console.capture() as captured:
        show(blocks, console)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _printable(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks that a terminal shows, without the headings of sections that have none."""
    headings: list[Heading] = []  # that no block has followed yet
    for block in unfolded(blocks):
        if isinstance(block, Heading):
            headings = [heading for heading in headings if heading.level < block.level] + [block]
        elif not isinstance(block, Contents | Picture):
            yield from (*headings, block)
            headings = []


def _print(block: Block, console: Console) -> None:
    match block:
        case Heading(text, level):
            console.rule(Text(text)) if level == 1 else console.print(Text(text, "bold underline"))
        case Paragraph(text, small):
            console.print(text, style="dim" if small else None, markup=False, highlight=False)
        case Bullets(lines, kind):
            sign, style = BULLETS[kind]
            for line in lines:
                console.print(sign + line, style=style, markup=False, highlight=False, soft_wrap=kind == "code")
        case Examples(examples, note):
            console.print(note, markup=False, highlight=False)
            for example in examples:
                console.print(Text(f"Example {example.id}", "bold"))
                console.print(_example(example))
            console.print(Text("; ".join(f"{mark}: {meaning}" for mark, meaning in LEGEND.items()), "dim"))
        case Table():  # caption and notes may be wider than the table
            if block.caption:
                console.print(block.caption, style="bold", markup=False, highlight=False)
            console.print(_table(block), crop=False)
            for note in block.notes:
                console.print(note, style="table.caption", markup=False, highlight=False)


def _example(example: Example) -> RichTable:
    grid = RichTable.grid(padding=(0, 2, 1, 0))
    grid.add_column(style="bold", max_width=24)
    grid.add_column(ratio=1)
    grid.add_row("reference", Text(example.reference))
    for system, pieces in example.summaries.items():
        grid.add_row(Text(system), Text.assemble(*((piece.text, PIECES[piece.mark]) for piece in pieces)))
    return grid


def _table(table: Table) -> RichTable:
    rich = RichTable(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    for column, name in enumerate(table.header):
        width = _least_width(table, column)
        rich.add_column(escape(name), overflow="fold", min_width=width, justify="right" if column else "left")
    for row in table.rows:
        rich.add_row(*(_cell(cell, escape(cell.text), escape(cell.detail)) for cell in row))
    return rich


def _least_width(table: Table, column: int) -> int:
    """Columns fold at spaces in a narrow terminal, never within a word or between the numbers of an interval."""
    cells = [row[column] for row in table.rows]
    texts = filter(str.strip, [table.header[column], *(text for cell in cells for text in (cell.text, cell.detail))])
    whole = [text if column and text[:1] in "+-(0123456789" else max(text.split(), key=len) for text in texts]
    return min(80 if column else 20, max(map(len, whole), default=0))


def _cell(cell: Cell, text: str, detail: str) -> str:
    value = f"[bold]{text}[/bold]" if cell.mark else text
    return f"{value}\n[dim]{detail}[/dim]" if detail else value
