"""Lines of the log: what several updates on several processes logged, as one large batch would have logged it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from rlsum.training.log.numbers import Field, Logged, Numbers, Rate, declare, from_json, to_json, together
from rlsum.training.parallel.processes import Processes

declare(Field("updates_per_second", "updates a second, without validations", machine=True))


class TrainingLog:
    """Collects the numbers of updates between two lines of the log."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self._numbers: dict[str, Logged] = {}
        self.restart_clock()

    def add(self, logs: Iterable[Numbers]) -> None:
        """Add the numbers of this process in an update: those of its batches, and others."""
        updates = Rate(self.processes.rank == 0)  # the others make the same ones
        self._numbers = together([self._numbers, *logs, {"updates_per_second": updates}])

    def flush(self) -> dict[str, float]:
        """Numbers since the last line, over all processes, without those that are undefined. All must call it."""
        gathered = self.processes.gather_all(self._numbers)
        numbers, seconds = together(gathered), time.perf_counter() - self._since
        line = {name: number.in_line(seconds, len(gathered)) for name, number in numbers.items()}
        self._numbers = {}
        self.restart_clock()
        return {name: value for name, value in line.items() if not math.isnan(value)}

    def unwritten(self) -> dict[str, Any]:
        """What ``resume`` needs to go on with the line that is begun, for JSON. Every process must call it."""
        numbers = together(self.processes.gather_all(self._numbers))
        return {"seconds": time.perf_counter() - self._since, "numbers": to_json(numbers)}

    def resume(self, unwritten: Mapping[str, Any]) -> None:
        """Go on with a line of an earlier process, whose numbers the first process takes over."""
        self._since = time.perf_counter() - unwritten["seconds"]
        if self.processes.rank == 0:
            self._numbers = from_json(unwritten["numbers"])

    def restart_clock(self) -> None:
        """Count the seconds of training from now."""
        self._since = time.perf_counter()
