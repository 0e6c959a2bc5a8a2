"""The processes of a job: who does what, and how they learn what the others found.

Item i of a list is done by process i mod n, so that what is sorted by length is spread evenly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import torch

from rlsum.errors import UserError

if TYPE_CHECKING:
    from accelerate import Accelerator, PartialState

T = TypeVar("T")
PATIENCE = timedelta(hours=2)  # how long processes wait for each other: one may tokenise a corpus, or score outputs


@dataclass(frozen=True)
class Team:
    """This process is number ``index`` of ``size``."""

    index: int = 0
    size: int = 1

    @classmethod
    def of(cls, state: Accelerator | PartialState) -> Team:
        """The processes that a launcher has started."""
        return cls(state.process_index, state.num_processes)

    def mine(self, items: Sequence[T]) -> Sequence[T]:
        """The items of a list that are this process's."""
        return items[self.index :: self.size]

    def together(self, found: Sequence[T]) -> list[T]:
        """What all processes found for their items, in the order of the list. Every process must call it."""
        parts = self.everyone(list(found))
        return [parts[i % self.size][i // self.size] for i in range(sum(map(len, parts)))]

    def everyone(self, found: T) -> list[T]:
        """What each process found, by its number. Every process must call it."""
        if self.size == 1:
            return [found]
        from accelerate.utils import gather_object

        parts: list[T] = gather_object([found])
        return parts

    @contextmanager
    def one_first(self) -> Iterator[None]:
        """Process 0 does it, then the others, who find what it left in a cache. Raises UserError where it failed."""
        if self.index:
            with telling_who_ended("its own message says why"):
                self.everyone(None)
        yield
        if not self.index:
            self.everyone(None)


ALONE = Team()


def launched(device: str | None) -> tuple[Team, str | None]:
    """The processes that a launcher started for a command, and the device of this one, by default ``device``."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ALONE, device
    from accelerate import PartialState

    state = PartialState(cpu=device == "cpu", timeout=PATIENCE)
    return Team.of(state), str(state.device)


@contextmanager
def telling_who_ended(advice: str) -> Iterator[None]:
    """Raise UserError, with what to do, where a process cannot go on because another one of its job ended."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, torch.distributed.DistError) or "gloo" in str(error)):
            raise
        raise UserError(f"another process of this job ended, so this one cannot go on; {advice}") from error
