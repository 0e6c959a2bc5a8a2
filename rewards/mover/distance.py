"""The distance of two items: its formula, and what explanations call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Distance(NamedTuple):
    """``between``: points ``(m, d)`` and ``(n, d)`` -> ``(m, n)``, float64; ``name``: in pictures and pages."""

    between: Callable[[Floats, Floats], Floats]
    name: str


def euclidean(first: Floats, second: Floats) -> Floats:
    """Distances ``(m, n)`` of the rows of ``(m, d)`` and ``(n, d)``, float64; exactly 0 for equal points."""
    norms = np.vecdot(first, first)[:, None] + np.vecdot(second, second)
    squares = first @ second.T
    squares *= -2.0
    squares += norms
    squares[squares < 1e-14 * norms] = 0.0  # equal points: the expanded product rounds their distance to 1e-8
    return np.sqrt(squares, out=squares)


EUCLIDEAN = Distance(euclidean, "Euclidean distance")
