"""What a comparison is doing: a live table of cells in a terminal, a line for each change elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rlsum.compare.cells import Cell
from rlsum.compare.folder import Folder, State

STYLES = {"done": "green", "failed": "red", "waiting": "dim"}
REFRESH = 2.0  # seconds between looks at the files


@contextmanager
def watching(folder: Folder, cells: Sequence[Cell], console: Console) -> Iterator[Callable[[], None]]:
    """A function that shows the present state, to be called often; it reads the folder every two seconds."""
    shown: dict[str, str] = {}
    last = 0.0

    def states() -> dict[str, State] | None:
        nonlocal last
        if time.monotonic() - last < REFRESH:
            return None
        last = time.monotonic()
        return {cell.name: folder.state(cell) for cell in cells}

    def lines() -> None:
        for name, state in (states() or {}).items():
            if shown.get(name, "waiting") != state.stage:
                text = f"{name}: {state.stage}" + (f" ({state.reason.splitlines()[-1]})" if state.reason else "")
                console.print(text, highlight=False, markup=False, soft_wrap=True)
            shown[name] = state.stage

    if not console.is_terminal:
        yield lines
        last = 0.0  # what ended since the last look
        lines()
        return
    with Live(table({}, cells), console=console, transient=True, auto_refresh=False) as live:

        def redraw() -> None:
            now = states()
            if now is not None:
                live.update(table(now, cells), refresh=True)

        yield redraw


def table(states: dict[str, State], cells: Sequence[Cell]) -> Table:
    """A row for each cell that is neither done nor waiting, and the counts of those that are."""
    rich = Table("cell", "stage", "updates", box=None, pad_edge=False)
    for cell in cells:
        state = states.get(cell.name, State("waiting"))
        if state.stage not in ("done", "waiting"):
            progress = f"{state.update} of {state.updates}" if state.updates else ""
            reason = state.reason.splitlines()[-1] if state.reason else progress
            rich.add_row(Text(cell.name), Text(state.stage, STYLES.get(state.stage, "")), Text(reason))
    counts = {stage: sum(state.stage == stage for state in states.values()) for stage in ("done", "waiting", "failed")}
    rich.caption = ", ".join(f"{count} {stage}" for stage, count in counts.items())
    return rich
