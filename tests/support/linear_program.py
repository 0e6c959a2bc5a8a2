"""Optimal transport as a linear program, written out: what movers are compared with."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def least_cost(first: np.ndarray, second: np.ndarray, costs: np.ndarray) -> float:
    """The least cost of moving weights ``(m,)`` to ``(n,)`` where moving one unit costs ``costs`` ``(m, n)``."""
    rows, columns = costs.shape
    sums = np.vstack([np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))])
    return float(linprog(costs.ravel(), A_eq=sums, b_eq=np.concatenate([first, second]), bounds=(0, None)).fun)
