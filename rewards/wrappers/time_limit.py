"""A time limit for every candidate: worker processes score and are killed if a text takes too long."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pickle import PicklingError, dumps
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from rewards.base import Reward
from rewards.errors import RewardError
from rewards.scoring import Component, Inputs, Item, Scored, references_of, score_components, signature
from rewards.wrappers.cached import item_key
from rewards.wrappers.inner import Wrapper, check_alone, innermost

CONTEXT = get_context("spawn")  # a fork would copy locks that torch or a tokenizer may be holding
REMEMBERED = 2**14  # reasons
ORPHAN = 10.0  # seconds beyond its limit after which a worker whose parent is gone ends itself


@dataclass(frozen=True)
class _Answer:
    """A score and those of a sum's components, with its reason if it is NaN, or the error that the reward raised."""

    score: float = float("nan")
    components: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    error: Exception | None = None


@dataclass(eq=False, repr=False)
class Limited(Wrapper):
    """A reward with a time limit per candidate; a candidate that exceeds it is NaN, with that reason.

    Range and floor are those of the inner reward. Worker processes score the candidates one by one. A script needs
    ``if __name__ == "__main__":``, because workers are spawned.
    """

    name = "limited"
    example: ClassVar[str] = "reward=rouge-l, seconds=2"

    seconds: Annotated[float, Gt(0)]
    """the limit in wall-clock time for one candidate with all its references, without the loading of models"""
    workers: Annotated[int, Ge(1)] = 1
    """the number of processes"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__setstate__(self.__dict__)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64: the inner reward's scores, its floor for an empty candidate included.

        NaN if the inner reward is undefined, the time limit is exceeded, or scoring ended its process twice. Raises
        what the inner reward raises, and RewardError for a reward whose scores depend on the rest of the batch.
        """
        return self.score_components(inputs)[0]

    def score_components(self, inputs: Inputs) -> Scored:
        """The scores and, if the inner reward is a weighted sum, its components, NaN beyond the time limit."""
        if inputs.references is not None:
            references_of(self.name, inputs)
        items = [inputs.item(row) for row in range(len(inputs.candidates))]
        with self._lock:
            forked = self._pool.process != os.getpid()  # those workers belong to the parent
            if forked or self._pool.fitted != fitted(self.reward):
                self.close()
                self.__setstate__(self.__getstate__())
            answers = self._pool.run(items)
            for item, answer in zip(items, answers, strict=True):
                if answer.reason is not None:
                    self._reasons[item_key("", item)] = answer.reason
                    self._reasons[item_key("", item._replace(source=None))] = answer.reason  # asked without it
            while len(self._reasons) > REMEMBERED:
                self._reasons.popitem(last=False)
        components = [
            Component(name, weight, np.array([answer.components.get(name, np.nan) for answer in answers]))
            for name, weight in self.weights.items()
        ]
        return np.array([answer.score for answer in answers], dtype=np.float64), components

    @property
    def signature(self) -> str:
        """The limit, because it can make a score NaN, and the whole inner signature."""
        return signature(self.name, seconds=f"{self.seconds!r}", reward=f"[{self.reward.signature}]")

    def reason(self, item: Item) -> str | None:
        """The time limit or the inner reward's reason. Scores the item again if its reason is no longer remembered."""
        key = item_key("", item)
        if key not in self._reasons:
            (score,) = self(*item.inputs())
            if score == score:
                return None
        return self._reasons[key]

    def close(self) -> None:
        """End the workers; the next call starts new ones. Also runs when the reward is garbage-collected."""
        self._pool.stop()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._reasons: OrderedDict[bytes, str] = OrderedDict()
        self._pool = _Pool(self.reward, self.seconds, self.workers)
        weakref.finalize(self, self._pool.stop)


def fitted(reward: Reward) -> bytes:
    """What a worker has of rewards that may be fitted to other texts; of any other nothing, as it stays the same."""
    return dumps([inner for inner in innermost(reward) if hasattr(inner, "fit")])


class _Worker:
    """A process that is starting, scoring the item at ``place`` until its deadline, or idle."""

    def __init__(self, reward: Reward, seconds: float) -> None:
        self.connection, worker_end = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(worker_end, reward, seconds), daemon=True)
        try:
            self.process.start()
        except (PicklingError, AttributeError, TypeError) as error:
            why = f"cannot be sent to a worker ({error}); define it in a module"
            raise RewardError(f"limited: {reward.name} {why}") from error
        worker_end.close()  # so that the end of the process closes the pipe
        self.started = False
        self.place: int | None = None
        self.deadline = float("inf")

    def give(self, place: int, item: Item, deadline: float) -> None:
        """Send an item. If the process has ended, the next read raises."""
        self.place, self.deadline = place, deadline
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(item)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Pool:
    """Workers, started when there is work and replaced when they die."""

    def __init__(self, reward: Reward, seconds: float, size: int) -> None:
        self.reward, self.seconds, self.size = reward, seconds, size
        self.fitted = fitted(reward)
        self.process = os.getpid()
        self.workers: list[_Worker] = []

    def stop(self) -> None:
        """Kill all workers, unless this is a fork of the process that owns them."""
        while self.process == os.getpid() and self.workers:
            self.workers.pop().stop()

    def run(self, items: Sequence[Item]) -> list[_Answer]:
        """An answer for each item, in order. Raises what a reward raised."""
        answers: dict[int, _Answer] = {}
        waiting = deque(range(len(items)))
        deaths: set[int] = set()
        try:
            while len(answers) < len(items):
                while len(self.workers) < min(self.size, len(items) - len(answers)):
                    self.workers.append(_Worker(self.reward, self.seconds))
                for worker in self.workers:
                    if waiting and worker.started and worker.place is None:
                        place = waiting.popleft()
                        worker.give(place, items[place], time.monotonic() + self.seconds)
                nearest = min(worker.deadline for worker in self.workers)
                timeout = None if nearest == float("inf") else max(0.0, nearest - time.monotonic())
                wait([worker.connection for worker in self.workers], timeout)
                for worker in list(self.workers):
                    self._receive(worker, answers, waiting, deaths)
        except BaseException:  # also an interrupt: workers in the middle of an item would answer the next call
            self.stop()
            raise
        return [answers[place] for place in range(len(items))]

    def _receive(self, worker: _Worker, answers: dict[int, _Answer], waiting: deque[int], deaths: set[int]) -> None:
        """Receive an answer; remove a worker that has ended or exceeded its time limit.

        An item whose process ends is tried once more, because something other than its text may have ended it.
        """
        place = worker.place
        try:
            answer = worker.connection.recv() if worker.connection.poll() else None
        except (EOFError, ConnectionResetError):
            self._remove(worker)
            code = worker.process.exitcode
            if not worker.started:
                main = 'a script that starts it needs `if __name__ == "__main__":`, and its reward must be importable'
                raise RewardError(f"limited: a worker ended while starting (exit code {code}); {main}") from None
            if place in deaths:
                answers[place] = _Answer(reason=f"scoring it ended its worker process twice (exit code {code})")
            elif place is not None:
                deaths.add(place)
                waiting.appendleft(place)
            return
        if answer is not None:
            if answer.error is not None:
                raise answer.error
            if place is not None:
                answers[place] = answer
            worker.started, worker.place, worker.deadline = True, None, float("inf")
        elif place is not None and time.monotonic() >= worker.deadline:
            self._remove(worker)
            answers[place] = _Answer(reason=f"scoring it took more than {self.seconds:g} seconds")

    def _remove(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.stop()


def _serve(connection: Connection, reward: Reward, seconds: float) -> None:
    """The loop of a worker: load and warm up outside the time limit, then score items until the pipe closes."""
    for number in ("SIGINT", "SIGTERM", "SIGUSR1"):  # go to the whole group; the parent decides
        if hasattr(signal, number):
            signal.signal(getattr(signal, number), signal.SIG_IGN)
    connection.send(_attempt(_warm, reward))
    with contextlib.suppress(EOFError):
        while True:
            item = connection.recv()
            _alarm(seconds + ORPHAN)
            answer = _attempt(_score, reward, item)
            _alarm(0)
            connection.send(answer)


def _warm(reward: Reward) -> _Answer:
    check_alone(Limited.name, reward)
    if not reward.columns:  # no valid values of columns are known
        reward(["a text"], [["a text"]], ["a text"])
    return _Answer()


def _score(reward: Reward, item: Item) -> _Answer:
    (score,), components = score_components(reward, item.inputs())
    values = {name: float(scores[0]) for name, _, scores in components}
    return _Answer(float(score), values, None if score == score else reward.undefined(*item) or "no reason given")


def _attempt(action: Callable[..., _Answer], *arguments: Any) -> _Answer:
    """The answer, or the error to raise in the parent; other errors as text, because not all can be pickled."""
    try:
        return action(*arguments)
    except RewardError as error:
        return _Answer(error=error)
    except Exception:
        return _Answer(error=RuntimeError(f"limited: the reward failed in a worker:\n{traceback.format_exc()}"))


def _alarm(seconds: float) -> None:
    """Have the system end this process after ``seconds``, if it can: a worker without a parent must not run forever."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
