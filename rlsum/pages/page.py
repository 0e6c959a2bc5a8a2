"""HTML pages that need no other file: styles and pictures inside, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable

from rlsum.pages.blocks import LEGEND, Block, Contents, Heading
from rlsum.pages.templates import render


def to_html(blocks: Iterable[Block]) -> str:
    """The blocks as one page, in light and in dark; the first heading is its title.

    Where the page has `Contents`, a click on the head of a column sorts its table, by a script in the page.
    """
    listed = list(blocks)
    sortable = any(isinstance(block, Contents) for block in listed)
    title = next((block.text for block in listed if isinstance(block, Heading)), "Report")
    return render("pages/report.html", {"title": title, "blocks": listed, "legend": LEGEND, "sortable": sortable})
