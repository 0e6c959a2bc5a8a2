"""Scoring a stream of rows: a chunk at a time, in this process or in several, in order and in bounded memory."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from rlsum.errors import UserError
from rlsum.pairs import Row, texts_of

if TYPE_CHECKING:
    from rewards.base import Reward

T = TypeVar("T")

CHUNK = 1024  # rows; a multiple of the 32 that batch centering groups, so that chunks do not cut its groups
AHEAD = 2  # chunks a process that wait or are done, so that none idles and memory stays bounded


class Scored(NamedTuple):
    """One row's scores by label (None = undefined) and the reasons of those that are."""

    scores: dict[str, float | None]
    undefined: dict[str, str]


def score_rows(rows: Sequence[Row], scorers: Mapping[str, Reward]) -> list[Scored]:
    """The scores of some rows. Raises whatever a reward raises."""
    candidates, references, sources = ([*column] for column in zip(*map(texts_of, rows), strict=True))
    columns = {}
    for label, scorer in scorers.items():
        columns[label] = np.asarray(scorer(candidates, references, sources), dtype=np.float64)
        if columns[label].shape != (len(rows),):
            raise ValueError(f"reward {label!r} returned shape {columns[label].shape} for {len(rows)} rows")
    return [
        _scored({label: float(column[place]) for label, column in columns.items()}, scorers, *texts)
        for place, texts in enumerate(zip(candidates, references, strict=True))
    ]


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in lists of ``CHUNK``."""
    remaining = iter(rows)
    while chunk := list(itertools.islice(remaining, CHUNK)):
        yield chunk


class Scoring:
    """Rewards by label, at work in this process (``workers=1``) or in several. To be used in a ``with``."""

    def __init__(self, specs: str, workers: int) -> None:
        self.specs, self.workers = specs, workers
        self.pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Scoring:
        if self.workers == 1:
            _load(self.specs)
            return self
        # Each process would take every core for itself; the variable is read when numpy and torch are imported there.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // self.workers)))
        self.pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _start, (self.specs,))
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def signatures(self) -> dict[str, str]:
        """Every reward's signature by its label; loads what they need."""
        return _signatures() if self.pool is None else _result(self.pool.submit(_signatures))

    def chunks(self, chunks: Iterable[list[Row]]) -> Iterator[tuple[list[Row], list[Scored]]]:
        """Each chunk with its scores, in order. Raises what a reward raises, UserError where a process ended."""
        if self.pool is None:
            yield from ((chunk, _score(chunk)) for chunk in chunks)
            return
        under_way: deque[tuple[list[Row], Future[list[Scored]]]] = deque()
        for chunk in chunks:
            under_way.append((chunk, self.pool.submit(_score, chunk)))
            if len(under_way) >= AHEAD * self.workers:
                done, future = under_way.popleft()
                yield done, _result(future)
        for done, future in under_way:
            yield done, _result(future)


_scorers: dict[str, Reward] = {}  # of this process: a worker makes its rewards once, from their specs


def _load(specs: str) -> None:
    import rewards

    _scorers.clear()
    _scorers.update(rewards.from_specs(specs))


def _start(specs: str) -> None:
    """A worker ends with the process it works for, also when that one was killed."""
    _load(specs)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _signatures() -> dict[str, str]:
    return {label: scorer.signature for label, scorer in _scorers.items()}


def _score(chunk: list[Row]) -> list[Scored]:
    return score_rows(chunk, _scorers)


def _scored(values: dict[str, float], scorers: Mapping[str, Reward], candidate: str, references: list[str]) -> Scored:
    reasons = {
        label: scorers[label].undefined(candidate, references) or "no reason given"
        for label, value in values.items()
        if value != value
    }
    return Scored({label: None if value != value else value for label, value in values.items()}, reasons)


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise UserError("a scoring process was ended from outside (out of memory?); try fewer --workers") from error
