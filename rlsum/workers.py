"""Worker processes that end with their parent, however it ends."""

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

from rlsum.errors import UserError, option

CONTEXT = get_context("spawn")  # a fork would copy locks that torch or a tokenizer holds


class WorkerKilled(UserError):
    """A worker was killed, and its pool is of no more use."""


@contextmanager
def pool(jobs: int, threads: int = 1) -> Iterator[ProcessPoolExecutor]:
    """A pool of at most ``jobs`` workers, started on demand, of ``threads`` each (see ``limit_threads``).

    Raises WorkerKilled if a worker is killed.
    """
    try:
        with ProcessPoolExecutor(jobs, CONTEXT, initializer=_begin, initargs=(threads,)) as executor:
            yield executor
    except BrokenProcessPool as error:
        raise WorkerKilled(
            f"a worker process was killed (out of memory?); try fewer {option('jobs')}; finished work is kept"
        ) from error


def share(processes: int) -> int:
    """The threads of each of so many processes that work at once: together one for each core."""
    return max(1, (os.cpu_count() or 1) // processes)


def limit_threads(threads: int) -> None:
    """Let numpy and torch, where they are not imported yet, use so many threads, unless OMP_NUM_THREADS says otherwise.

    By default each process uses every core, and several wait for each other. Processes that it starts inherit this.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))


def _begin(threads: int) -> None:
    end_with_parent()
    limit_threads(threads)


def end_with_parent() -> None:
    """Make this worker end when its parent ends, even by SIGKILL, and end silently at Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches the whole process group
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
