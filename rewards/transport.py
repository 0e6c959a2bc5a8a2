"""Exact optimal transport by POT. The only import of ot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OPTIMAL = 1
PIVOTS = 1_000_000  # more than any pair of texts needs; POT's default of 100,000 can end early on long documents


class TransportError(RuntimeError):
    """The solver did not reach the optimum, so its cost would be wrong."""


def exact_cost(first: Floats, second: Floats, cost: Floats) -> float:
    """The minimum cost of moving weights ``first`` ``(m,)`` to ``second`` ``(n,)``, ``cost`` ``(m, n)``; all float64.

    Weights are positive and sum to 1. The earth mover's distance when ``cost`` is a distance (Kusner et al. 2015).
    Raises TransportError where the solver ends without the optimum.
    """
    if len(first) == 1 or len(second) == 1:  # there is only one plan
        return float(first @ cost @ second)
    return _solve(first, second, cost)[1]


def exact_plan(first: Floats, second: Floats, cost: Floats) -> Floats:
    """The plan ``(m, n)`` of ``exact_cost``, at most ``m + n - 1`` entries not 0. Raises TransportError as it does."""
    return _solve(first, second, cost)[0]


def _solve(first: Floats, second: Floats, cost: Floats) -> tuple[Floats, float]:
    """Plan and cost by POT's network simplex, without the checks of ``ot.emd``, which cost more than small problems."""
    from ot.lp.emd_wrap import emd_c

    second = second * (first.sum() / second.sum())
    plan, value, _, _, status = emd_c(first, second, np.ascontiguousarray(cost), PIVOTS, 1)
    if status != OPTIMAL:
        raise TransportError(f"no optimal transport for {cost.shape[0]} x {cost.shape[1]} items (POT status {status})")
    return np.asarray(plan), float(value)
