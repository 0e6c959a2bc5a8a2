"""An inverted index: which of many texts hold what one text holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class Postings:
    """Per unit (a word, an n-gram) the texts that hold it and how often. ``sizes (texts,)``: units of each text."""

    def __init__(self, texts: Sequence[Iterable[Hashable]]) -> None:
        counted = [Counter(units) for units in texts]
        self.texts = len(counted)
        self.sizes = np.array([units.total() for units in counted], dtype=np.float64)
        self.number: dict[Hashable, int] = {}
        for units in counted:
            for unit in units:
                self.number.setdefault(unit, len(self.number))
        numbers = np.array([self.number[unit] for units in counted for unit in units], dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        self.rows = np.repeat(np.arange(self.texts), [len(units) for units in counted])[order]
        self.counts = np.array([count for units in counted for count in units.values()], dtype=np.int64)[order]
        self.ends = np.cumsum(np.bincount(numbers, minlength=len(self.number)))

    def hits(self, units: Iterable[Hashable], clip: bool = False) -> NDArray[np.float64]:
        """How many of ``units`` each text holds, ``(texts,)``; ``clip``: each at most as often as the text holds it."""
        counts = [(self.number[unit], count) for unit, count in Counter(units).items() if unit in self.number]
        if not counts:
            return np.zeros(self.texts)
        runs = [slice(self.ends[number - 1] if number else 0, self.ends[number]) for number, _ in counts]
        amounts = np.repeat([count for _, count in counts], [run.stop - run.start for run in runs])
        if clip:
            amounts = np.minimum(amounts, np.concatenate([self.counts[run] for run in runs]))
        rows = np.concatenate([self.rows[run] for run in runs])
        return np.bincount(rows, weights=amounts, minlength=self.texts).astype(np.float64, copy=False)
