"""Scoring a stream of rows: a chunk at a time, in this process or in several, in order and in bounded memory."""

from __future__ import annotations

import itertools
import os
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

import rewards
from rewards import Item, Reward, RewardError
from rlsum.errors import UserError
from rlsum.scoring.pairs import Row, inputs_of
from rlsum.workers import CONTEXT, end_with_parent

CHUNK = 1024  # rows; a multiple of the 32 that batch centering groups, so that chunks do not cut its groups
AHEAD = 2  # chunks a process that wait or are done, so that none idles and memory stays bounded


class Scored(NamedTuple):
    """One row's scores by label (None = undefined) and the reasons of those that are."""

    scores: dict[str, float | None]
    undefined: dict[str, str]


def score_rows(rows: Sequence[Row], scorers: Mapping[str, Reward]) -> list[Scored]:
    """The scores of some rows. Raises whatever a reward raises."""
    inputs = inputs_of(rows)
    columns = {}
    for label, scorer in scorers.items():
        columns[label] = np.asarray(scorer(*inputs), dtype=np.float64)
        if columns[label].shape != (len(rows),):
            raise ValueError(f"reward {label!r} returned shape {columns[label].shape} for {len(rows)} rows")
    return [
        _scored({label: float(column[place]) for label, column in columns.items()}, scorers, inputs.item(place))
        for place in range(len(rows))
    ]


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in lists of ``CHUNK``."""
    remaining = iter(rows)
    while chunk := list(itertools.islice(remaining, CHUNK)):
        yield chunk


class Scoring:
    """Rewards by label, at work in this process (``workers=1``) or in several. To be used in a ``with``."""

    def __init__(self, specs: str, workers: int) -> None:
        self.specs, self.size = specs, workers
        self.here: dict[str, Reward] = {}
        self.workers: list[_Worker] = []
        self.idle: SimpleQueue[_Worker] = SimpleQueue()
        self.threads = ThreadPoolExecutor(workers)  # each waits for a worker's answer

    def __enter__(self) -> Scoring:
        if self.size == 1:
            self.here = rewards.from_specs(self.specs)
            return self
        # Each process would take every core for itself; the variable is read when numpy and torch are imported there.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // self.size)))
        for _ in range(self.size):
            self.workers.append(_Worker(self.specs))
            self.idle.put(self.workers[-1])
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.process.kill()  # which also ends the waiting of its thread
        self.threads.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.process.join()

    def signatures(self) -> dict[str, str]:
        """Every reward's signature by its label; loads what they need."""
        return self._ask(None) if self.workers else _signatures(self.here)

    def chunks(self, chunks: Iterable[list[Row]]) -> Iterator[tuple[list[Row], list[Scored]]]:
        """Each chunk with its scores, in order. Raises what a reward raises, UserError where a process ended."""
        if not self.workers:
            yield from ((chunk, score_rows(chunk, self.here)) for chunk in chunks)
            return
        under_way: deque[tuple[list[Row], Future[list[Scored]]]] = deque()
        for chunk in chunks:
            under_way.append((chunk, self.threads.submit(self._ask, chunk)))
            if len(under_way) >= AHEAD * self.size:
                done, future = under_way.popleft()
                yield done, future.result()
        for done, future in under_way:
            yield done, future.result()

    def _ask(self, question: list[Row] | None) -> Any:
        """The answer of the next idle worker."""
        worker = self.idle.get()
        try:
            return worker.ask(question)
        finally:
            self.idle.put(worker)


class _Worker:
    """A process with rewards of its own and a pipe to it, which closes when the process ends, whatever ended it."""

    def __init__(self, specs: str) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(theirs, specs))
        self.process.start()
        theirs.close()

    def ask(self, question: list[Row] | None) -> Any:
        """Scores of some rows, or the signatures (None). Raises what was raised there, UserError where it ended."""
        try:
            self.connection.send(question)
            answer = self.connection.recv()
        except (EOFError, OSError) as error:
            raise UserError("a scoring process was ended from outside (out of memory?); try fewer --workers") from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(connection: Connection, specs: str) -> None:
    """A worker's life: answer until the pipe closes. It ends with the process it works for, also a killed one."""
    end_with_parent()
    scorers: dict[str, Reward] = {}
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            scorers = scorers or rewards.from_specs(specs)
            answer: object = _signatures(scorers) if question is None else score_rows(question, scorers)
        except RewardError as error:
            answer = error
        except Exception:  # of another library: as text, since not all can travel
            answer = RuntimeError(f"scoring failed in a worker:\n{traceback.format_exc()}")
        connection.send(answer)


def _signatures(scorers: Mapping[str, Reward]) -> dict[str, str]:
    return {label: scorer.signature for label, scorer in scorers.items()}


def _scored(values: dict[str, float], scorers: Mapping[str, Reward], item: Item) -> Scored:
    reasons = {
        label: scorers[label].undefined(*item) or "no reason given" for label, value in values.items() if value != value
    }
    return Scored({label: None if value != value else value for label, value in values.items()}, reasons)
