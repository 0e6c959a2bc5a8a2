"""Processes that work for another one, and end with it, however it ends."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

CONTEXT = get_context("spawn")  # a fork would copy locks that torch or a tokenizer may be holding


def pool(workers: int) -> ProcessPoolExecutor:
    """At most so many workers, begun as they are needed. By themselves they would outlive a parent that is killed."""
    return ProcessPoolExecutor(workers, CONTEXT, initializer=end_with_parent)


def end_with_parent() -> None:
    """Have this process, a worker, end with the one it works for, also a killed one, and at Ctrl-C without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to the whole group
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
