"""Signals that ask a run to stop: it ends its update, saves its state, and says how to continue."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

# Ctrl-C; what machines send before they stop; what Slurm is told to send before the time of a job ends
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class StoppedValidation(Exception):
    """A validation that a signal ended."""


class Interruption:
    """A context manager that keeps the first of ``SIGNALS`` instead of ending the process; a second Ctrl-C ends it.

    ``signal`` is None until one arrives. Only the main thread of a process can receive signals; others keep none.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._keep) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _keep(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = self.signal or signal.Signals(number)
