"""The formats of a report, and writing it in all of them. A new one is a renderer in this room and a line here."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlsum.pages.blocks import Block, pictures_of
from rlsum.pages.latex import to_latex
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html

FORMATS: dict[str, Callable[[Sequence[Block]], str]] = {".html": to_html, ".md": to_markdown, ".tex": to_latex}


def file_names(stem: str = "report", others: Mapping[str, str] = {}) -> dict[str, str]:
    """Format -> the file of a report in it; ``others``: formats in which the file has another stem."""
    return {ending: others.get(ending, stem) + ending for ending in FORMATS}


def write_report(
    folder: Path,
    files: Mapping[str, str],
    blocks: Sequence[Block],
    texts: Mapping[str, str],
    paper: Sequence[Block] | None = None,
) -> list[Path]:
    """Write a report as ``files``, its pictures as PNG, and further ``texts`` (name -> text); returns the paths.

    ``paper``: the blocks that LaTeX shows, if not all.
    """
    shown = {ending: paper if paper is not None and ending == ".tex" else blocks for ending in files}
    formats = {name: FORMATS[ending](shown[ending]) + "\n" for ending, name in files.items()}
    return write(folder, {**formats, **texts}, blocks)


def write(folder: Path, texts: Mapping[str, str], blocks: Iterable[Block]) -> list[Path]:
    """Write texts (file name -> text) and the pictures of the blocks, as PNG, into ``folder``; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    pictures = {f"{picture.name}.png": picture.light for picture in pictures_of(blocks)}
    for name, image in pictures.items():
        (folder / name).write_bytes(image)
    return [folder / name for name in (*texts, *pictures)]


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """CSV of rows, header included; NaN is empty."""
    file = io.StringIO()
    csv.writer(file).writerows(["" if value != value else value for value in row] for row in rows)
    return file.getvalue()
