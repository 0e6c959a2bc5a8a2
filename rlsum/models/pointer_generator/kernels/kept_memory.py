"""Memory that one update leaves for the next."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from rlsum.models.execution import execution


class KeptMemory(threading.local):
    """The memory of a large tensor, kept for the next one when nothing uses it any more. One for each thread.

    malloc returns what is freed to the system from 32 MB on, and to get it back takes up to a seventh of an update's
    time (docs/results/speed.md). On a GPU torch keeps freed memory itself.
    """

    def __init__(self) -> None:
        self._bytes = torch.empty(0, dtype=torch.uint8, device="cpu")
        self._array: Callable[[], object] = lambda: None  # alive as long as a tensor, a view of it or a graph needs it

    def empty(self, shape: Sequence[int], like: Tensor) -> Tensor:
        """An uninitialised tensor, like ``torch.empty``, with the dtype and the device of another."""
        if not execution(like.device).keeps_memory or self._array() is not None:
            return like.new_empty(shape)
        size = math.prod(shape) * like.itemsize
        if len(self._bytes) < size:
            self._bytes = torch.empty(size, dtype=torch.uint8, device="cpu")
        array = self._bytes.numpy()[:size]
        self._array = weakref.ref(array)
        return torch.from_numpy(array).view(like.dtype).view(shape)
