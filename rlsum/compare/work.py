"""Work on the cells of a comparison, shared through files with every other process that works on the same folder."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import yaml

from rlsum import workers
from rlsum.compare.cells import Cell, generate_command, train_command, typed
from rlsum.compare.folder import STATE, Folder, read_metrics
from rlsum.compare.scoring import score_file, up_to_date
from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.yaml_files import merge

PAUSE = 0.5  # seconds between looks at cells that other processes work on


class CellFailed(UserError):
    """A cell cannot be finished, now or later; the message is the reason that the report shows."""


class CommandStopped(UserError):
    """A command was killed, or the disk is full: no fault of its cell. The next start continues it."""


@dataclass
class Work:
    """``jobs`` cells at a time until each of ``cells`` is done or failed, here or in another process.

    ``every``: all cells of the comparison, for the names of starts.
    """

    folder: Folder
    every: Sequence[Cell]
    cells: Sequence[Cell]
    jobs: int
    retry: bool = False
    _settled: set[str] = field(default_factory=set)
    _taken: set[str] = field(default_factory=set)
    _failed: dict[str, str] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)

    def run(self, watch: Callable[[], None] = lambda: None) -> dict[str, str]:
        """Work; returns cell -> why it failed. ``watch`` is called every half second.

        Ctrl-C and SIGTERM end the running commands, which save their states.
        """
        if self.retry:
            for cell in self.cells:
                self.folder.failure(cell).unlink(missing_ok=True)
        with ThreadPoolExecutor(self.jobs) as threads, interrupted_by_sigterm():
            loops = [threads.submit(self._loop) for _ in range(self.jobs)]
            try:
                while not all(loop.done() for loop in loops):
                    watch()
                    time.sleep(PAUSE)
            except BaseException:
                self._stop()
                raise
            for loop in loops:
                loop.result()
            watch()
        done = {cell.name for cell in self.cells if self.folder.state(cell).stage == "done"}  # elsewhere, meanwhile
        return {name: why for name, why in self._failed.items() if name not in done}

    def _stop(self) -> None:
        self._stopped.set()
        for process in list(self._running):
            process.terminate()

    def _loop(self) -> None:
        """Take one cell after the other until all are settled. A scorer that is killed costs its cell alone."""
        try:
            while self._goes_on():
                with contextlib.suppress(workers.WorkerKilled), workers.pool(1, workers.share(self.jobs)) as scorer:
                    while self._goes_on():
                        if not any(self._try(cell, scorer) for cell in self.cells if not self._stopped.is_set()):
                            time.sleep(PAUSE)
        except BaseException:
            self._stop()  # an error of ours: the other loops end, too
            raise

    def _goes_on(self) -> bool:
        return not self._stopped.is_set() and len(self._settled) < len(self.cells)

    def _try(self, cell: Cell, scorer: ProcessPoolExecutor) -> bool:
        """Work on a cell if it needs work and nobody else works on it; returns whether anything was done."""
        with self._guard:
            if cell.name in self._settled or cell.name in self._taken or not self._ready(cell):
                return False
            self._taken.add(cell.name)
        try:
            with self.folder.lock(cell.name) as lock:
                if lock is None:
                    return False
                self._finish(cell, lock, scorer)
                return True
        finally:
            with self._guard:
                self._taken.discard(cell.name)

    def _ready(self, cell: Cell) -> bool:
        """Whether the cells before it are trained; settles a cell that has failed or waits for one that has."""
        if (reason := self.folder.why_failed(cell)) is not None:
            self._settle(cell, reason)
            return False
        before = [earlier for earlier in self.every if earlier.name in cell.after]
        for earlier in before:
            if self.folder.why_failed(earlier) is not None or earlier.name in self._failed:
                self._settle(cell, f"not started: {earlier.name} failed")
                return False
        return all(self.folder.trained(earlier) for earlier in before)

    def _settle(self, cell: Cell, reason: str = "") -> None:
        self._settled.add(cell.name)
        if reason:
            self._failed[cell.name] = reason

    def _finish(self, cell: Cell, lock: IO[bytes], scorer: ProcessPoolExecutor) -> None:
        """Train, decode and score a cell, from wherever an earlier process left it."""
        try:
            if not self.folder.trained(cell):
                self._train(cell, lock)
            for method, path in self.folder.outputs(cell).items():
                if not path.exists():
                    if cell.kind == "outputs":
                        raise CellFailed(f"{path}: no such file; give the outputs of {cell.system}")
                    self._command(cell, generate_command(self.folder.comparison, cell, method), lock)
                scores, specs = self.folder.scores(cell, method), self.folder.comparison.scored
                if not up_to_date(path, scores, specs, self.retry):
                    scorer.submit(score_file, path, scores, specs).result()
            self._settle(cell)
        except (UserError, OSError) as error:
            if self._stopped.is_set():
                return  # interrupted, which is no failure
            if isinstance(error, CellFailed):
                with contextlib.suppress(OSError):  # a full disk: the reason is printed, and found again
                    write_atomically(self.folder.failure(cell), f"{error}\n".encode())
            self._settle(cell, str(error))
        except BrokenProcessPool:
            self._settle(cell, "scoring: its process was killed (out of memory?); start the comparison again")
            raise

    def _train(self, cell: Cell, lock: IO[bytes]) -> None:
        run = Path(str(cell.model))
        if (run / STATE).exists():
            return self._command(cell, ["train", "--resume", str(run)], lock)
        config = dict(cell.config or {})
        if cell.constant:
            config = merge(config, {"objective": {"control_advantage": self._mean_advantage(cell)}})
        text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        write_atomically(self.folder.config(cell), text.encode())
        self._command(cell, train_command(self.folder.comparison, cell, self.every), lock)

    def _mean_advantage(self, cell: Cell) -> float:
        """The mean advantage in the log of the training that a constant control belongs to."""
        run = next(Path(str(earlier.model)) for earlier in self.every if earlier.name == cell.after[-1])
        lines = [row for row in read_metrics(run) if row["kind"] == "train"]
        updates = np.diff([0, *(row["step"] for row in lines)])  # that a line sums up
        means = np.array([row.get("advantage_mean", math.nan) for row in lines])
        known = ~np.isnan(means)
        if not known.any():
            raise CellFailed(f"{run}: its log has no advantage_mean; a constant control needs kind=mixed")
        return float(np.average(means[known], weights=updates[known]))

    def _command(self, cell: Cell, command: Sequence[str], lock: IO[bytes]) -> None:
        """Run one ``rlsum`` command; raises CellFailed with the end of what it printed.

        Its output goes to the cell's log and not through this process, so that it outlives a killed comparison. It
        inherits the cell's lock, so that no other process touches the cell as long as it runs. One thread: on matrices
        as small as those of a laptop's models a second one gains little, and on a busy machine it costs. Behind its
        output stand the CPU seconds that it used, which `Folder.cpu_seconds` reads.
        """
        words = typed(self.folder.comparison, command)
        environment = os.environ | {"COLUMNS": "200"}
        environment.setdefault("OMP_NUM_THREADS", "1")
        with self.folder.log(cell).open("ab") as log:
            log.write(f"$ {shlex.join(words)}\n".encode())
            log.flush()
            begin = log.tell()
            with subprocess.Popen(
                words if words[0] != "rlsum" else [sys.executable, "-m", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[lock.fileno()],
            ) as process:
                self._running.add(process)
                if self._stopped.is_set():  # after the running commands were ended
                    process.terminate()
                try:
                    used = cpu_seconds_until_ended(process)
                finally:
                    self._running.discard(process)
        with self.folder.log(cell).open("r+b") as log:
            log.seek(begin)
            printed = log.read().decode(errors="replace")
            if used is not None:
                log.write(f"\n# {used:.2f} CPU seconds\n".encode())
        if process.returncode:
            raise failure(command, process.returncode, printed)


def cpu_seconds_until_ended(process: subprocess.Popen[bytes]) -> float | None:
    """Wait for a process; what it and its children used, None where somebody else has waited for it, too."""
    try:
        _, status, used = os.wait4(process.pid, 0)
    except ChildProcessError:  # `Popen.terminate` looks whether it has ended
        process.wait()
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt. Only the main thread can receive signals; in others nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def failure(command: Sequence[str], code: int, printed: str) -> UserError:
    """Why a command failed: its own message, or the end of what it printed. What passes is CommandStopped."""
    what = f"rlsum {shlex.join(command[:2])}"
    if code < 0:
        return CommandStopped(f"{what}: killed by signal {-code} (out of memory?); start the comparison again")
    if code > 128:  # a training that was asked to stop has saved its state
        return CommandStopped(f"{what}: stopped by signal {code - 128}; start the comparison again")
    lines = [line for line in printed.splitlines() if line.strip()]
    messages = [number for number, line in enumerate(lines) if line.startswith("rlsum: ")]
    text = "\n".join([f"{what}: exit code {code}", *(lines[messages[-1] :] if messages else lines[-6:])])
    return CommandStopped(text) if code == os.EX_TEMPFAIL else CellFailed(text)
