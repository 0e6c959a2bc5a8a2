"""What a comparison is doing: a live table of cells in a terminal, lines elsewhere; with the time left, and the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rlsum.compare.cells import Cell
from rlsum.compare.folder import Folder, State

STYLES = {"done": "green", "failed": "red", "waiting": "dim"}
REFRESH = 2.0  # seconds between looks at the files
LINES = 10  # of a training, outside a terminal


@dataclass
class Pace:
    """How fast trainings go: ``expected`` seconds of an update at first, then what was seen since the first look."""

    expected: Mapping[str, float] = field(default_factory=dict)
    _first: dict[str, tuple[float, int]] = field(default_factory=dict)

    def left(self, name: str, state: State, now: float) -> str:
        """The time that a training still takes, such as ``3 min left``; "" where nothing is known."""
        begun, update = self._first.setdefault(name, (now, state.update))
        seen = (now - begun) / (state.update - update) if state.update > update else self.expected.get(name)
        if state.stage != "training" or seen is None or not state.updates:
            return ""
        seconds = seen * max(0, state.updates - state.update)
        return f"{seconds / 60:,.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"


@contextmanager
def watching(
    folder: Folder, cells: Sequence[Cell], console: Console, expected: Mapping[str, float] | None = None
) -> Iterator[Callable[[], None]]:
    """A function that shows the present state, to be called often; it reads the folder every two seconds.

    ``expected``: cell -> seconds of an update, where they were measured.
    """
    shown: dict[str, tuple[str, int]] = {}
    pace, last = Pace(expected or {}), 0.0

    def states() -> dict[str, State] | None:
        nonlocal last
        if time.monotonic() - last < REFRESH:
            return None
        last = time.monotonic()
        return {cell.name: folder.state(cell) for cell in cells}

    def lines() -> None:
        for cell in cells if (now := states()) is not None else ():
            state = (now or {})[cell.name]
            reached = (state.stage, LINES * state.update // max(1, state.updates))
            if shown.get(cell.name, ("waiting", 0)) != reached:
                log = f"; log: {folder.log(cell)}" if shown.get(cell.name, ("waiting", 0))[0] == "waiting" else ""
                progress = ", ".join(filter(None, details(cell, state, pace)))
                text = f"{cell.name}: {state.stage}{f' ({progress})' if progress else ''}"
                console.print(text + (log if state.busy else ""), highlight=False, markup=False, soft_wrap=True)
            shown[cell.name] = reached

    if not console.is_terminal:
        yield lines
        last = 0.0  # what ended since the last look
        lines()
        return
    with Live(table({}, cells, folder, pace), console=console, transient=True, auto_refresh=False) as live:

        def redraw() -> None:
            now = states()
            if now is not None:
                live.update(table(now, cells, folder, pace), refresh=True)

        yield redraw


def details(cell: Cell, state: State, pace: Pace) -> tuple[str, str]:
    """How far a cell is, or why it failed; and the time left."""
    if state.reason:
        return state.reason.splitlines()[-1], ""
    progress = f"{state.update:,} of {state.updates:,} updates" if state.stage == "training" and state.updates else ""
    return progress, pace.left(cell.name, state, time.monotonic())


def table(states: Mapping[str, State], cells: Sequence[Cell], folder: Folder, pace: Pace) -> Table:
    """A row for each cell that is neither done nor waiting, and the counts of those that are."""
    rich = Table("cell", "stage", "progress", "time", "log", box=None, pad_edge=False)
    for cell in cells:
        state = states.get(cell.name, State("waiting"))
        if state.stage not in ("done", "waiting"):
            texts = (*details(cell, state, pace), str(folder.log(cell)))
            rich.add_row(Text(cell.name), Text(state.stage, STYLES.get(state.stage, "")), *map(Text, texts))
    counts = {stage: sum(state.stage == stage for state in states.values()) for stage in ("done", "waiting", "failed")}
    rich.caption = ", ".join(f"{count} {stage}" for stage, count in counts.items())
    return rich
