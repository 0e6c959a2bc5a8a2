"""How scores agree with people: Pearson's and Kendall's correlation, of groups and averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.coefficients.kendall import kendall
from rlsum.evaluation.coefficients.pearson import pearson
from rlsum.records import defined


@dataclass(frozen=True)
class Correlations:
    """Of ``n`` pairs of scores; NaN if one side is constant or fewer than two pairs are defined."""

    pearson: float
    kendall: float
    n: int

    def to_json(self) -> dict[str, float | None]:
        """The values for JSON: null if undefined."""
        return defined(asdict(self))


def correlations(scores: ArrayLike, human: ArrayLike) -> Correlations:
    """Of two vectors ``(n,)``; items with a NaN are left out, and ``n`` counts the remaining ones."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    return Correlations(float(pearson(first, second)), float(kendall(first, second)), len(first))


def average(groups: Mapping[str, Correlations]) -> Correlations:
    """The mean over the groups with a correlation, with equal weights (as WMT's tables)."""
    values = [(group.pearson, group.kendall) for group in groups.values() if not np.isnan(group.pearson)]
    r, tau = np.mean(values or [(np.nan, np.nan)], axis=0).tolist()
    return Correlations(r, tau, sum(group.n for group in groups.values()))
