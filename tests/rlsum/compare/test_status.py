"""What a comparison prints while it works."""

from __future__ import annotations

import io

import comparisons
from rich.console import Console

from rlsum.compare.status import watching


def test_the_last_cell_is_printed_however_soon_the_work_ends(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,))
    last = folder.scores(cells[-1], "beam")
    content = last.read_text()
    last.unlink()
    text = io.StringIO()
    with watching(folder, cells, Console(file=text)) as watch:
        watch()
        last.write_text(content)
        watch()  # within two seconds
    assert f"{cells[-1].name}: done" in text.getvalue().splitlines()
