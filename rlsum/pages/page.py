"""HTML pages that need no other file: styles and pictures inside, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rlsum.pages.blocks import LEGEND, Block, Heading, pictures_of
from rlsum.pages.templates import render


def to_html(blocks: Iterable[Block], sortable: bool = False) -> str:
    """The blocks as one page, in light and in dark; the first heading is its title.

    With ``sortable`` a click on the head of a column sorts its table, by a script in the page.
    """
    listed = list(blocks)
    title = next((block.text for block in listed if isinstance(block, Heading)), "Report")
    return render("pages/report.html", {"title": title, "blocks": listed, "legend": LEGEND, "sortable": sortable})


def write(folder: Path, texts: Mapping[str, str], blocks: Iterable[Block]) -> list[Path]:
    """Write texts (file name -> text) and the pictures of the blocks, as PNG, into ``folder``; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    pictures = {f"{picture.name}.png": picture.light for picture in pictures_of(blocks)}
    for name, image in pictures.items():
        (folder / name).write_bytes(image)
    return [folder / name for name in (*texts, *pictures)]
