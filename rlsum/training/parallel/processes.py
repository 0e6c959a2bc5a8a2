"""The processes of a job: which work is whose, and how results reach all of them.

Item i of a list belongs to process i mod n, so that a list sorted by length is spread evenly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
from accelerate import Accelerator, PartialState

from rlsum.errors import UserError

T = TypeVar("T")
TIMEOUT = timedelta(hours=2)  # how long processes wait for each other: one may tokenise a corpus, or score outputs


@dataclass(frozen=True)
class Processes:
    """This process is number ``rank`` of ``world_size``."""

    rank: int = 0
    world_size: int = 1

    @classmethod
    def of(cls, state: Accelerator | PartialState) -> Processes:
        """The processes that a launcher has started."""
        return cls(state.process_index, state.num_processes)

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """The items that this process works on."""
        return items[self.rank :: self.world_size]

    def gather(self, results: Sequence[T]) -> list[T]:
        """The results of all processes for their shares, in the order of the list. Every process must call it."""
        parts = self.gather_all(list(results))
        return [parts[i % self.world_size][i // self.world_size] for i in range(sum(map(len, parts)))]

    def gather_all(self, value: T) -> list[T]:
        """The value of each process, by rank. Every process must call it."""
        if self.world_size == 1:
            return [value]
        from accelerate.utils import gather_object

        values: list[T] = gather_object([value])
        return values

    def gather_lists(self, values: Sequence[T]) -> tuple[list[T], slice]:
        """The values of all processes, by rank, and where this one's are among them. Every process must call it."""
        lists = self.gather_all(list(values))
        first = sum(map(len, lists[: self.rank]))
        return [value for gathered in lists for value in gathered], slice(first, first + len(values))

    @contextmanager
    def main_first(self) -> Iterator[None]:
        """Process 0 runs the block, then the others, who find its results in a cache. Raises UserError if it fails."""
        if self.rank:
            with lost_process_as_error("its own message says why"):
                self.gather_all(None)
        yield
        if not self.rank:
            self.gather_all(None)


ONE_PROCESS = Processes()


def launched(device: str | None) -> tuple[Processes, str | None]:
    """The processes that a launcher started for a command, and the device of this one, by default ``device``."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ONE_PROCESS, device
    from accelerate import PartialState

    state = PartialState(cpu=device == "cpu", timeout=TIMEOUT)
    return Processes.of(state), str(state.device)


@contextmanager
def lost_process_as_error(advice: str) -> Iterator[None]:
    """Raise UserError, with ``advice``, where the block fails because another process of the job has ended."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, torch.distributed.DistError) or "gloo" in str(error)):
            raise
        raise UserError(f"another process of this job ended, so this one cannot go on; {advice}") from error
