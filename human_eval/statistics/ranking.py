"""Bradley and Terry's model: strengths of several systems from pairwise comparisons. Only this module imports choix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from human_eval.statistics.votes import Floats, Vote
from human_eval.study import Pair
from rlsum.evaluation.correlation import LEVEL, bootstrap_values, percentiles

RESAMPLES = 1_000
TOLERANCE = 1e-6  # sum of changes of strengths at convergence


@dataclass(frozen=True)
class Strength:
    """A system's log-strength (mean over systems 0) with its interval, and the interval of its rank (1 = best).

    ``share``: the expected share of comparisons won, averaged over the other systems.
    """

    system: str
    strength: float
    low: float
    high: float
    share: float
    rank_low: float
    rank_high: float


@dataclass(frozen=True)
class SystemRanking:
    """Systems from strongest to weakest, empty if undefined. ``reason`` explains that, or missing intervals."""

    systems: tuple[Strength, ...] = ()
    reason: str = ""


def bradley_terry(
    votes: Sequence[Vote],
    systems: Sequence[str],
    *,
    same: Sequence[tuple[Pair, str]] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> SystemRanking:
    """Maximum likelihood strengths of ``systems`` from votes on one criterion (Bradley and Terry 1952).

    ``P(i beats j) = 1 / (1 + exp(s_j - s_i))``; a tie is half a win for each. Each item counts once for each pair, as
    the mean of its votes, and the bootstrap resamples items. ``same``: unjudged ties. The ranking is empty, with a
    reason, if no chain of comparisons joins all systems, or if some never lost to the rest (infinite strengths).
    """
    wins = item_wins(votes, systems, same)
    total = wins.sum(0)
    if reason := _refused(total, systems):
        return SystemRanking(reason=reason)
    fitted = strengths(total)

    def value(weights: Floats) -> Floats:
        return np.stack([_or_nan(drawn, fitted) for drawn in np.tensordot(weights, wins, axes=1)])

    if len(wins) < 2:
        drawn, reason = np.full((1, len(systems)), np.nan), "no interval: one item"
    else:
        drawn, reason = bootstrap_values(value, len(wins), resamples, seed), ""
    ranks = np.where(np.isnan(drawn), np.nan, rankdata(-drawn, axis=1))
    rows = []
    for index in np.argsort(-fitted, kind="stable"):
        low, high, why = percentiles(drawn[:, index], LEVEL)
        best, worst, _ = percentiles(ranks[:, index], LEVEL)
        reason = reason or why
        share = float(np.mean([1 / (1 + np.exp(other - fitted[index])) for other in np.delete(fitted, index)]))
        rows.append(Strength(systems[index], float(fitted[index]), low, high, share, best, worst))
    return SystemRanking(tuple(rows), reason)


def item_wins(votes: Sequence[Vote], systems: Sequence[str], same: Sequence[tuple[Pair, str]] = ()) -> Floats:
    """How often system i beat system j on each item (items, i, j). Each pair on an item has a total of 1."""
    index = {system: number for number, system in enumerate(systems)}
    chosen: dict[tuple[str, Pair], list[float]] = {}
    for vote in votes:
        chosen.setdefault((vote.item, vote.pair), []).append(vote.preference)
    chosen.update({(item, pair): [0.0] for pair, item in same})
    items = {item: number for number, item in enumerate(sorted({item for item, _ in chosen}))}
    wins = np.zeros((len(items), len(systems), len(systems)))
    for (item, (first, second)), preferences in chosen.items():
        share = (1 + sum(preferences) / len(preferences)) / 2
        wins[items[item], index[second], index[first]] += share
        wins[items[item], index[first], index[second]] += 1 - share
    return wins


def strengths(wins: Floats, start: Floats | None = None) -> Floats:
    """Log-strengths (systems,) with mean 0 from ``wins`` (i beats j), a strongly connected graph."""
    from choix import ilsr_pairwise_dense

    log_strengths = np.asarray(ilsr_pairwise_dense(wins, initial_params=start, max_iter=10_000, tol=TOLERANCE))
    return log_strengths - log_strengths.mean()


def _or_nan(wins: Floats, start: Floats) -> Floats:
    everyone_won = np.count_nonzero(wins) == wins.size - len(wins)  # so all are connected
    connected = everyone_won or _components(wins, "strong")[0] == 1
    return strengths(wins, start) if connected else np.full(len(wins), np.nan)


def _components(wins: Floats, connection: Literal["weak", "strong"]) -> tuple[int, NDArray[np.int32]]:
    graph = csr_matrix((wins > 0).astype(np.float64))
    count, label = connected_components(graph, directed=True, connection=connection)
    return int(count), label


def _refused(wins: Floats, systems: Sequence[str]) -> str:
    """Why strengths do not exist; "" if they do."""
    if len(systems) < 2 or not wins.any():
        return "no comparisons of two systems"
    count, label = _components(wins, "weak")
    if count > 1:
        groups = [", ".join(np.array(systems)[label == group]) for group in range(count)]
        return f"no chain of comparisons joins {' with '.join(groups)}"
    count, label = _components(wins, "strong")
    if count > 1:
        # the component that no other system ever beat
        top = next(group for group in range(count) if not wins[np.ix_(label != group, label == group)].any())
        never = ", ".join(np.array(systems)[label == top])
        return f"{never} never lost to the rest and never tied: strengths are infinite; see the shares instead"
    return ""
