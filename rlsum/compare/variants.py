"""Trainings from one start, run by the commands that a user would type."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rlsum.errors import UserError
from rlsum.training.checkpoint import RESULT, STATE

START, CONTROL = "MLE", "MLE continued"  # the likelihood model, and the same trained on without a reward

Log = Callable[[str], None]
T = TypeVar("T")
Result = TypeVar("Result")

_processes: set[subprocess.Popen[str]] = set()  # running commands of all threads


class CommandError(UserError):
    """A command of a comparison failed; the message holds the command and the end of its output."""


@dataclass(frozen=True)
class Variant:
    """One training: its name in tables, its configuration and overrides, the metric it is trained on (or None)."""

    name: str
    config: Path
    run: Path
    reward: str | None = None
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class DecodingMethod:
    """Its title in the report, the suffix of its files, and the options of ``rlsum generate``."""

    title: str
    suffix: str
    options: tuple[str, ...]


BEAM = DecodingMethod("Beam search, width 5", "beam", ("--beam", "5", "--batch-size", "32"))
GREEDY = DecodingMethod("Greedy decoding", "greedy", ("--beam", "1", "--batch-size", "32"))
METHODS = (BEAM, GREEDY)


def run_parallel(work: Callable[[T], Result], items: Iterable[T], jobs: int) -> list[Result]:
    """``work`` of every item, ``jobs`` at a time. After an error no item starts, and running ones finish.

    KeyboardInterrupt, which only the main thread receives, terminates the running commands.
    """
    failed = threading.Event()

    def start(item: T) -> Result:
        if failed.is_set():
            raise CommandError("not started after an error")  # the caller sees the earlier error
        try:
            return work(item)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(start, items))
        except KeyboardInterrupt:
            failed.set()
            while _processes:  # the pool does not wait for a thread that was starting
                for process in list(_processes):
                    process.terminate()
                time.sleep(0.05)
            raise


def train(variant: Variant, init: Path | None, log: Log) -> None:
    """Train a variant from the model of ``init``; skip a finished run, resume a stopped one. Raises CommandError."""
    if (variant.run / RESULT).exists():
        return
    if (variant.run / STATE).exists():
        _run(["train", "--resume", str(variant.run)], log)
    else:
        start = ["--init", str(init)] if init is not None else []
        _run(["train", str(variant.config), f"run={variant.run}", *variant.overrides, *start], log)


def decode(variant: Variant, articles: Path, folder: Path, log: Log) -> None:
    """Summarize ``articles`` with the variant's best checkpoint by every method; existing files are kept."""
    for method in METHODS:
        path = outputs_path(folder, variant, method)
        if not path.exists():
            names = ["-o", str(path), "--system", variant.name]
            _run(["generate", str(variant.run), str(articles), *names, *method.options], log)


def outputs_path(folder: Path, variant: Variant, method: DecodingMethod) -> Path:
    """The file of a variant's outputs."""
    return folder / f"{variant.run.name}.{method.suffix}.jsonl"


def rewards_of(variants: Sequence[Variant]) -> dict[str, str]:
    """Variant -> the reward it was trained on, for those that were."""
    return {variant.name: variant.reward for variant in variants if variant.reward is not None}


def _run(command: list[str], log: Log) -> None:
    """One ``rlsum`` command in a process, its lines logged as they come.

    The process uses one thread: on matrices this small a second one gains little, and on a busy machine two threads
    that wait for each other are many times slower.
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
        assert process.stdout is not None  # for type checkers: it is a pipe
        lines: list[str] = []
        _processes.add(process)
        try:
            for line in process.stdout:
                lines.append(line)
                log(line.rstrip())
        except BaseException:
            process.terminate()  # an interrupted comparison leaves no training running
            raise
        finally:
            _processes.discard(process)
    if process.returncode:
        thread = threading.current_thread().name
        raise CommandError(f"rlsum {' '.join(command)} failed in {thread}:\n{''.join(lines[-12:])}")
