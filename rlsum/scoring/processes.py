"""Rows scored in this process or in several others: chunk by chunk, in order, in bounded memory."""

from __future__ import annotations

import itertools
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

from rewards import Reward, RewardError
from rlsum.errors import UserError, option
from rlsum.scoring.outputs import score_column
from rlsum.scoring.pairs import Row, inputs_of
from rlsum.workers import CONTEXT, end_with_parent, limit_threads, share

Make = Callable[[], dict[str, Reward]]
CHUNK = 1024  # rows; a multiple of 32, so that chunks do not split the groups of batch centering
AHEAD = 2  # chunks per process, waiting or done: processes stay busy and memory bounded


class RowScores(NamedTuple):
    """One row's scores by label (None = undefined), and label -> reason for the undefined ones."""

    scores: dict[str, float | None]
    undefined: dict[str, str]


def score_rows(rows: Sequence[Row], scorers: Mapping[str, Reward]) -> list[RowScores]:
    """The scores of some rows. Raises what a reward raises."""
    inputs = inputs_of(rows)
    columns = {label: score_column(scorer, inputs) for label, scorer in scorers.items()}
    scored = []
    for row in range(len(rows)):
        values = {
            label: None if column[row] != column[row] else float(column[row]) for label, column in columns.items()
        }
        missing = [label for label, value in values.items() if value is None]
        reasons = {label: scorers[label].undefined(*inputs.item(row)) or "no reason given" for label in missing}
        scored.append(RowScores(values, reasons))
    return scored


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in lists of ``CHUNK``."""
    remaining = iter(rows)
    while chunk := list(itertools.islice(remaining, CHUNK)):
        yield chunk


class Scoring:
    """A context manager that scores with rewards by label, in this process (``workers=1``) or in several.

    ``make`` makes them in each process, so it must be picklable.
    """

    def __init__(self, make: Make, workers: int) -> None:
        if workers < 1:
            raise UserError(f"{option('workers', workers)}: must be 1 or more")
        self.make, self.size = make, workers
        self.scorers: dict[str, Reward] = {}  # of this process
        self.workers: list[_Worker] = []
        self.idle: SimpleQueue[_Worker] = SimpleQueue()
        self.threads = ThreadPoolExecutor(workers)  # one waits for each worker

    def __enter__(self) -> Scoring:
        if self.size == 1:
            self.scorers = self.make()
            return self
        limit_threads(share(self.size))  # of the workers, which inherit it
        for _ in range(self.size):
            self.workers.append(_Worker(self.make))
            self.idle.put(self.workers[-1])
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.process.kill()  # its thread stops waiting
        self.threads.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.process.join()

    def signatures(self) -> dict[str, str]:
        """Label -> signature; loads what the rewards need."""
        return self._ask(None) if self.workers else _signatures(self.scorers)

    def chunks(self, chunks: Iterable[list[Row]]) -> Iterator[tuple[list[Row], list[RowScores]]]:
        """Each chunk with its scores, in order. Raises what a reward raises, UserError where a worker was killed."""
        if not self.workers:
            yield from ((chunk, score_rows(chunk, self.scorers)) for chunk in chunks)
            return
        pending: deque[tuple[list[Row], Future[list[RowScores]]]] = deque()
        for chunk in chunks:
            pending.append((chunk, self.threads.submit(self._ask, chunk)))
            if len(pending) >= AHEAD * self.size:
                done, future = pending.popleft()
                yield done, future.result()
        for done, future in pending:
            yield done, future.result()

    def _ask(self, question: list[Row] | None) -> Any:
        worker = self.idle.get()
        try:
            return worker.ask(question)
        finally:
            self.idle.put(worker)


class _Worker:
    """A process that loads the rewards, and a pipe to it, which closes when the process ends."""

    def __init__(self, make: Make) -> None:
        self.connection, worker_end = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(worker_end, make))
        self.process.start()
        worker_end.close()

    def ask(self, question: list[Row] | None) -> Any:
        """Scores of some rows, or signatures for None. Raises the worker's error, UserError where it was killed."""
        try:
            self.connection.send(question)
            answer = self.connection.recv()
        except (EOFError, OSError) as error:
            raise UserError(f"a scoring process was killed (out of memory?); try fewer {option('workers')}") from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(connection: Connection, make: Make) -> None:
    """Answer questions until the pipe closes or the parent process ends, even if it is killed."""
    end_with_parent()
    scorers: dict[str, Reward] = {}
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            scorers = scorers or make()
            answer: object = _signatures(scorers) if question is None else score_rows(question, scorers)
        except RewardError as error:
            answer = error
        except Exception:  # as text: not every exception can be pickled
            answer = RuntimeError(f"scoring failed in a worker:\n{traceback.format_exc()}")
        connection.send(answer)


def _signatures(scorers: Mapping[str, Reward]) -> dict[str, str]:
    return {label: scorer.signature for label, scorer in scorers.items()}
