"""Pearson's r and Kendall's tau-b of a metric with human scores, within groups and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.coefficients import kendall, pearson
from rlsum.evaluation.rows import members
from rlsum.records import defined


@dataclass(frozen=True)
class Correlations:
    """Of ``n`` pairs of scores; NaN if one side is constant or fewer than two pairs are defined."""

    pearson: float
    kendall: float
    n: int

    def to_json(self) -> dict[str, float | None]:
        """The values for JSON: null if undefined."""
        return {**defined({"pearson": self.pearson, "kendall": self.kendall}), "n": self.n}


def correlations(scores: ArrayLike, human: ArrayLike) -> Correlations:
    """Of two vectors ``(n,)``; items with a NaN are left out, and ``n`` counts the remaining ones."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    return Correlations(float(pearson(first, second)), float(kendall(first, second)), len(first))


def by_group(scores: ArrayLike, human: ArrayLike, groups: Sequence[str]) -> dict[str, Correlations]:
    """The correlations within each group, in the order in which groups first appear."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    return {group: correlations(first[rows], second[rows]) for group, rows in members(groups).items()}


def average(groups: Mapping[str, Correlations]) -> Correlations:
    """The mean over the groups with a correlation, with equal weights (as WMT's tables)."""
    values = [group for group in groups.values() if not np.isnan(group.pearson)]
    n = sum(group.n for group in groups.values())
    if not values:
        return Correlations(np.nan, np.nan, n)
    return Correlations(
        float(np.mean([group.pearson for group in values])), float(np.mean([group.kendall for group in values])), n
    )
