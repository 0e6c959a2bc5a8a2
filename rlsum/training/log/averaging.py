"""The log of several updates on several processes: the numbers that one large batch would have logged."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from rlsum.training.log.numbers import Logged, Numbers, from_json, to_json, together
from rlsum.training.parallel.processes import Processes


class TrainingLog:
    """Collects the numbers of updates between two lines of the log."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self._begin()

    def _begin(self) -> None:
        self._numbers: dict[str, Logged] = {}
        self._updates = 0
        self.restart_clock()

    def add(self, logs: Iterable[Numbers]) -> None:
        """The numbers of this process in an update: those of its batches, and others."""
        self._numbers = together([self._numbers, *logs])
        self._updates += 1

    def flush(self) -> dict[str, float]:
        """Numbers since the last line, over all processes, without those that are undefined. All must call it.

        Of ``tokens`` and ``reward_seconds`` those of a second: how many, and which share of the processes' time.
        """
        gathered = self.processes.gather_all(self._numbers)
        line = {name: float(number) for name, number in together(gathered).items() if not math.isnan(number)}
        seconds = time.perf_counter() - self._since
        line["tokens_per_second"] = line.pop("tokens", 0.0) / seconds
        line["updates_per_second"] = self._updates / seconds
        if "reward_seconds" in line:
            line["reward_share"] = line.pop("reward_seconds") / (seconds * len(gathered))
        self._begin()
        return line

    def unwritten(self) -> dict[str, Any]:
        """What ``resume`` needs to go on with the line that is begun, for JSON. Every process must call it."""
        numbers = together(self.processes.gather_all(self._numbers))
        seconds = time.perf_counter() - self._since
        return {"updates": self._updates, "seconds": seconds, "numbers": to_json(numbers)}

    def resume(self, unwritten: Mapping[str, Any]) -> None:
        """Go on with a line of an earlier process, whose numbers the first process takes over."""
        self._updates, self._since = unwritten["updates"], time.perf_counter() - unwritten["seconds"]
        if self.processes.rank == 0:
            self._numbers = from_json(unwritten["numbers"])

    def restart_clock(self) -> None:
        """Count the seconds of training from now."""
        self._since = time.perf_counter()
