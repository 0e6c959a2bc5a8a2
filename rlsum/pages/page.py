"""HTML pages that need no other file: styles and pictures inside, every text escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rlsum.pages.blocks import LEGEND, Block, Heading, pictures_of


def to_html(blocks: Iterable[Block], sortable: bool = False) -> str:
    """The blocks as one page, in light and in dark; the first heading is its title.

    With ``sortable`` a click on the head of a column sorts its table, by a script in the page.
    """
    listed = list(blocks)
    title = next((block.text for block in listed if isinstance(block, Heading)), "Report")
    return render("pages/report.html", {"title": title, "blocks": listed, "legend": LEGEND, "sortable": sortable})


def fragment(blocks: Iterable[Block]) -> str | None:
    """The blocks as a part of a page, such as a notebook; None where jinja2 is not installed: it shows text then."""
    try:
        return render("pages/fragment.html", {"blocks": list(blocks), "legend": LEGEND})
    except ModuleNotFoundError:
        return None


def render(template: str, values: Mapping[str, Any], package: str = "rlsum") -> str:
    """The page of a ``template`` of a package, such as ``pages/report.html``. A name it lacks is an error.

    Templates of any package may extend ``pages/base.html`` of this one.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([str(resources.files(name)) for name in (package, "rlsum")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template(template).render(values)


def write(folder: Path, texts: Mapping[str, str], blocks: Iterable[Block]) -> None:
    """Write the texts (file name -> text) and the pictures of the blocks, as PNG, into ``folder``; creates it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    for picture in pictures_of(blocks):
        (folder / f"{picture.name}.png").write_bytes(picture.light)
