"""The lines that docs/concepts/one-update.md quotes are in the files that it names."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "concepts" / "one-update.md").read_text(encoding="utf-8")


def test_every_quoted_block_is_in_its_file():
    """A file is named on a line of its own; the blocks up to the next name are quoted from it."""
    quoted, path = [], None
    for name, block in re.findall(r"^`(rlsum/\S+\.py)`$|^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        path = name or path
        if block:
            quoted.append((path, block))
    assert len(quoted) >= 10
    for path, block in quoted:
        assert block in (ROOT / path).read_text(encoding="utf-8"), f"{path} has no lines\n{dedent(block)}"
