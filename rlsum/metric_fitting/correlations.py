"""How well a metric's scores agree with people: Pearson's r and Kendall's tau-b, within groups and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.coefficients import kendall, pearson


@dataclass(frozen=True)
class Correlations:
    """Of ``n`` pairs of scores; NaN where one side is constant or fewer than two are defined."""

    pearson: float
    kendall: float
    n: int


def correlations(scores: ArrayLike, human: ArrayLike) -> Correlations:
    """Of two vectors ``(n,)``; items of which a score is NaN are left out, and ``n`` says how many remain."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    defined = ~(np.isnan(first) | np.isnan(second))
    first, second = first[defined], second[defined]
    return Correlations(float(pearson(first, second)), float(kendall(first, second)), len(first))


def by_group(scores: Sequence[float], human: Sequence[float], groups: Sequence[str]) -> dict[str, Correlations]:
    """Those within each group, in the order in which groups first appear."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return {
        group: correlations([scores[place] for place in chosen], [human[place] for place in chosen])
        for group, chosen in places.items()
    }


def average(groups: Mapping[str, Correlations]) -> Correlations:
    """The mean over those groups where a correlation is defined, each group counting once (WMT's tables)."""
    defined = [each for each in groups.values() if not np.isnan(each.pearson)]
    n = sum(each.n for each in groups.values())
    if not defined:
        return Correlations(np.nan, np.nan, n)
    return Correlations(
        float(np.mean([each.pearson for each in defined])), float(np.mean([each.kendall for each in defined])), n
    )
