"""The log of a run: metrics.jsonl, texts in samples.jsonl and training-samples.jsonl, a tracker, the terminal."""

from __future__ import annotations

import json
import math
import resource
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rlsum.errors import RecordError
from rlsum.files import bytes_of, write_atomically
from rlsum.readers import NotJson, json_value
from rlsum.records import defined
from rlsum.scoring.properties import PROPERTIES
from rlsum.training.log.numbers import Field, declare, field_of
from rlsum.training.log.trackers import show_table

METRICS, SAMPLES, TRAINED = "metrics.jsonl", "samples.jsonl", "training-samples.jsonl"
declare(Field("memory_gib", "peak memory of a process in GiB: on a GPU torch's, else the resident set", machine=True))
SMOOTHED = 20  # log lines over which the terminal averages


class Monitor:
    """Logs a run from update ``step`` to ``steps``. A context manager."""

    def __init__(self, run: Path, accelerator: Accelerator, step: int, steps: int) -> None:
        self.run, self.accelerator, self.steps = run, accelerator, steps
        self.active = accelerator.is_main_process
        self.console = Console(stderr=True, quiet=not self.active)
        self._recent: dict[str, deque[float]] = {}
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._bar.add_task(run.name, total=steps, completed=step, figures="")
        self.forget_after(step)

    def __enter__(self) -> Monitor:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        self._tell_trackers(lambda tracker: tracker.finish())
        self.accelerator.trackers = []  # ended
        self.accelerator.end_training()

    def forget_after(self, step: int) -> None:
        """Drop log lines of updates after ``step``."""
        if self.active:
            for name in (METRICS, SAMPLES, TRAINED):
                forget_after(self.run / name, step)

    def train(self, step: int, values: Mapping[str, float]) -> None:
        """Log numbers of training, up to update ``step``."""
        self._write(step, "train", values)
        for name, value in sorted(values.items(), key=lambda item: field_of(item[0]).machine):
            if field_of(name).shown and not math.isnan(value):
                self._recent.setdefault(name, deque(maxlen=SMOOTHED)).append(value)
        figures = _figures({name: sum(recent) / len(recent) for name, recent in self._recent.items()})
        self._bar.update(self._task, completed=step, figures=figures)
        if not self.console.is_terminal:
            self.say(f"{self.run.name} {step}/{self.steps}  {figures}")

    def valid(self, step: int, values: Mapping[str, float], best: bool) -> None:
        """Log a validation. Properties that no text has, such as invented names in lower case, are not printed."""
        self._write(step, "valid", values)
        shown = {name: value for name, value in values.items() if name not in PROPERTIES or not math.isnan(value)}
        self.say(f"{self.run.name} {step}/{self.steps} valid  {_figures(shown)}" + ("  (best so far)" if best else ""))

    def append(self, name: str, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows of update ``step`` to the log ``name``, one of METRICS, SAMPLES, TRAINED.

        Texts are shown by trackers, too, as tables.
        """
        if self.active:
            with (self.run / name).open("a", encoding="utf-8") as file:
                file.writelines(json.dumps({"step": step, **row}, ensure_ascii=False) + "\n" for row in rows)
        if name != METRICS and rows:
            self._tell_trackers(lambda tracker: show_table(tracker, Path(name).stem, rows, step))

    def logged(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind, train or valid, in order; in the first process alone, which writes them."""
        path = self.run / METRICS
        if not self.active or not path.exists():
            return []
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [row for row in rows if row["kind"] == kind]

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _write(self, step: int, kind: str, values: Mapping[str, float]) -> None:
        numbers = defined(values)
        self.append(METRICS, step, [{"kind": kind, **numbers}])
        tracked = {f"{kind}/{name}": v for name, v in numbers.items() if v is not None}
        self._tell_trackers(lambda tracker: tracker.log(tracked, step=step))

    def _tell_trackers(self, call: Callable[[GeneralTracker], object]) -> None:
        """Call each tracker. One that fails, as when its server is gone, is left out from there on, with a warning."""
        for tracker in [*self.accelerator.trackers] if self.active else ():
            try:
                call(tracker)
            except Exception as error:  # of any kind
                self.accelerator.trackers.remove(tracker)
                reason = str(error).strip().partition("\n")[0] or type(error).__name__
                self.say(f"{self.run.name} warning: {tracker.name} failed and will not log any more ({reason})")


def _figures(values: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:{field_of(name).prints}}" for name, value in values.items())


def peak_memory(device: torch.device) -> float:
    """Peak memory of the process in GiB: torch's on a GPU, otherwise the resident set."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def check_logs(run: Path) -> None:
    """Raise RecordError, with the line, for logs that a resumed run could not continue."""
    for name in (METRICS, SAMPLES, TRAINED):
        _logged(run / name)


def forget_after(path: Path, step: int) -> None:
    """Drop log lines of updates after ``step``, and a last line that a kill cut short: the run writes them again."""
    if path.exists():
        write_atomically(path, b"".join(line for line, written in _logged(path) if written <= step))


def _logged(path: Path) -> list[tuple[bytes, int]]:
    """The whole lines of a log, each with its update; none where there is no log. Raises RecordError.

    Reads bytes: a kill may cut a character, and ``str.splitlines`` also splits at separators inside strings.
    """
    fix = "remove the line, or the file: the run continues without"
    try:
        content = bytes_of(path) if path.exists() else b""
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); {fix}") from error
    lines = []
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            if line.endswith(b"\n"):
                lines.append((line, int(json_value(line)["step"])))
        except (NotJson, LookupError, TypeError, ValueError) as error:
            raise RecordError(f"{path}:{number}: not a line of a log; {fix}") from error
    return lines
