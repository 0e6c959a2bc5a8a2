"""How well scores agree with people: Pearson's r and Kendall's tau-b, within groups and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Agreement:
    """Correlations of ``n`` pairs of scores; NaN where one side is constant or fewer than two are defined."""

    pearson: float
    kendall: float
    n: int


def agreement(scores: ArrayLike, human: ArrayLike) -> Agreement:
    """Of two vectors ``(n,)``; items of which a score is NaN are left out, and ``n`` says how many remain."""
    from scipy import stats

    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    defined = ~(np.isnan(first) | np.isnan(second))
    first, second = first[defined], second[defined]
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Agreement(np.nan, np.nan, len(first))
    return Agreement(
        float(stats.pearsonr(first, second).statistic), float(stats.kendalltau(first, second).statistic), len(first)
    )


def by_group(scores: Sequence[float], human: Sequence[float], groups: Sequence[str]) -> dict[str, Agreement]:
    """The agreement within each group, in the order in which groups first appear."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return {
        group: agreement([scores[place] for place in chosen], [human[place] for place in chosen])
        for group, chosen in places.items()
    }


def average(groups: Mapping[str, Agreement]) -> Agreement:
    """The mean over those groups where a correlation is defined, each group counting once (WMT's tables)."""
    defined = [each for each in groups.values() if not np.isnan(each.pearson)]
    n = sum(each.n for each in groups.values())
    if not defined:
        return Agreement(np.nan, np.nan, n)
    return Agreement(
        float(np.mean([each.pearson for each in defined])), float(np.mean([each.kendall for each in defined])), n
    )
