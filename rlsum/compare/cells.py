"""Several trainings of one start: each cell is a configuration, run by the same commands that a user would type."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rlsum.errors import UserError
from rlsum.training.checkpoint import RESULT, STATE

Say = Callable[[str], None]
Item = TypeVar("Item")
Made = TypeVar("Made")

_under_way: set[subprocess.Popen[str]] = set()  # commands of all threads


class CellError(UserError):
    """A command of a comparison failed; the message holds the command and the end of what it printed."""


@dataclass(frozen=True)
class Cell:
    """One training: its name in the tables, its configuration and overrides, the metric it is trained on (or None)."""

    name: str
    config: Path
    run: Path
    reward: str | None = None
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """One way of decoding: its title in the report, the file name's ending, and options of ``rlsum generate``."""

    title: str
    suffix: str
    options: tuple[str, ...]


BEAM = Decoded("Beam search, width 5", "beam", ("--beam", "5", "--batch-size", "32"))
GREEDY = Decoded("Greedy decoding", "greedy", ("--beam", "1", "--batch-size", "32"))


def side_by_side(work: Callable[[Item], Made], items: Iterable[Item], jobs: int) -> list[Made]:
    """``work`` of every item, ``jobs`` at a time; after an error none is begun, and those under way are finished.

    An interruption, which comes to the main thread alone, ends the commands under way.
    """
    failed = threading.Event()

    def begun(item: Item) -> Made:
        if failed.is_set():
            raise CellError("not begun after an error")  # which stands before it in the order
        try:
            return work(item)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(begun, items))
        except KeyboardInterrupt:
            failed.set()
            for process in list(_under_way):
                process.terminate()
            raise


def train(cell: Cell, init: Path | None, say: Say) -> None:
    """Train the cell; a finished run is kept, a stopped one is continued. Raises CellError."""
    if (cell.run / RESULT).exists():
        return
    if (cell.run / STATE).exists():
        _run(["train", "--resume", str(cell.run)], say)
    else:
        start = ["--init", str(init)] if init is not None else []
        _run(["train", str(cell.config), f"run={cell.run}", *cell.overrides, *start], say)


def decode(cell: Cell, articles: Path, folder: Path, ways: Sequence[Decoded], say: Say) -> None:
    """Summarize ``articles`` with the cell's best checkpoint, in each way; files that exist are kept."""
    for way in ways:
        out = outputs_path(folder, cell, way)
        if not out.exists():
            names = ["-o", str(out), "--system", cell.name]
            _run(["generate", str(cell.run), str(articles), *names, *way.options], say)


def outputs_path(folder: Path, cell: Cell, way: Decoded) -> Path:
    """Where the outputs of a cell lie."""
    return folder / f"{cell.run.name}.{way.suffix}.jsonl"


def _run(command: list[str], say: Say) -> None:
    """One ``rlsum`` command in a process of its own, its lines passed on as they come.

    One thread each: on matrices this small a second one gains little, and on a busy machine two that wait for each
    other are many times slower than one.
    """
    environment = os.environ | {"COLUMNS": "200"}
    environment.setdefault("OMP_NUM_THREADS", "1")
    with subprocess.Popen(
        [sys.executable, "-m", "rlsum", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None  # PIPE was asked for
        lines: list[str] = []
        _under_way.add(process)
        try:
            for line in process.stdout:
                lines.append(line)
                say(line.rstrip())
        except BaseException:
            process.terminate()  # an interrupted comparison leaves no training behind
            raise
        finally:
            _under_way.discard(process)
    if process.returncode:
        where = threading.current_thread().name
        raise CellError(f"rlsum {' '.join(command)} failed in {where}:\n{''.join(lines[-12:])}")
