"""Processes that work for another one, and end with it, however it ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from rlsum.errors import UserError

CONTEXT = get_context("spawn")  # a fork would copy locks that torch or a tokenizer may be holding


@contextmanager
def pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """At most so many workers, begun as they are needed; by themselves they would outlive a parent that is killed.

    Raises UserError where a worker is ended from outside.
    """
    try:
        with ProcessPoolExecutor(jobs, CONTEXT, initializer=end_with_parent) as made:
            yield made
    except BrokenProcessPool as error:
        raise UserError(
            "a worker process was ended from outside (out of memory?); try fewer --jobs: what is done is kept"
        ) from error


def end_with_parent() -> None:
    """Have this process, a worker, end with the one it works for, also a killed one, and at Ctrl-C without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to the whole group
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
