"""Another process that holds a run folder."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from rlsum.training import checkpoint


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Let another process claim ``folder`` until the block ends, which kills it."""
    context = multiprocessing.get_context("fork")  # torch is not imported again
    ours, theirs = context.Pipe()
    process = context.Process(target=_hold, args=(folder, theirs), daemon=True)
    process.start()
    try:
        assert ours.recv() == "held"
        yield
    finally:
        process.kill()
        process.join()


def _hold(folder: Path, pipe: Connection) -> None:
    lock = checkpoint.claim(folder)
    pipe.send("held")
    pipe.recv()
    lock.close()
