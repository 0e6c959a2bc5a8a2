"""Strengths of several systems from pairs: Bradley and Terry's model of votes, Scheffe's of graded preferences.

Votes of rankings are those of their pairs. Under the model of Plackett and Luce, each pair of a ranking follows that of
Bradley and Terry with the same strengths, so these are consistent for it, too. Only this module imports choix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from human_eval.statistics.votes import Floats, Vote
from human_eval.study import Pair
from rlsum.evaluation.correlation import LEVEL, bootstrap_values, percentiles

RESAMPLES = 1_000
Strengths = Callable[[Floats], Floats]  # weights of the items (b, items) -> strengths (b, systems), NaN without a fit
TOLERANCE = 1e-6  # sum of changes of strengths at convergence


@dataclass(frozen=True)
class Strength:
    """A system's strength (mean over systems 0) with its interval, and the interval of its rank (1 = best).

    ``strength``: a log-strength, or points of the scale of graded answers. ``share``: the expected share of comparisons
    won, averaged over the other systems; NaN of graded answers.
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
    """Systems from strongest to weakest, empty if undefined. ``reason`` explains that, or missing intervals.

    ``points``: of the scale of graded answers; 0 if strengths are logarithms.
    """

    systems: tuple[Strength, ...] = ()
    reason: str = ""
    points: float = 0.0


def ranked(
    votes: Sequence[Vote],
    systems: Sequence[str],
    points: float = 0.0,
    *,
    same: Sequence[tuple[Pair, str]] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> SystemRanking:
    """Strengths of ``systems`` from votes on one criterion: `scheffe` of graded answers, which have ``points``, else
    `bradley_terry`.

    Each item counts once for each pair, as the mean of its votes, and the bootstrap resamples items. ``same``: unjudged
    ties. The ranking is empty, with a reason, if no chain of comparisons joins all systems, or the model has no fit.
    """
    wins = item_wins(votes, systems, same)
    if reason := _refused(wins.sum(0), systems, points > 0):
        return SystemRanking(reason=reason, points=points)
    fitted, value = scheffe(wins, points) if points else bradley_terry(wins)
    if len(wins) < 2:
        drawn, reason = np.full((1, len(systems)), np.nan), "no interval: one item"
    else:
        drawn = bootstrap_values(value, len(wins), resamples, seed)
    ranks = np.where(np.isnan(drawn), np.nan, rankdata(-drawn, axis=1))
    rows = []
    for index in np.argsort(-fitted, kind="stable"):
        low, high, why = percentiles(drawn[:, index], LEVEL)
        best, worst, _ = percentiles(ranks[:, index], LEVEL)
        reason = reason or why
        share = float(np.mean([1 / (1 + np.exp(other - fitted[index])) for other in np.delete(fitted, index)]))
        share = np.nan if points else share
        rows.append(Strength(systems[index], float(fitted[index]), low, high, share, best, worst))
    return SystemRanking(tuple(rows), reason, points)


def scheffe(wins: Floats, points: float) -> tuple[Floats, Strengths]:
    """Main effects (systems,) in points from graded votes as `item_wins`, and under other weights (Scheffe 1952).

    The preference for j over i is ``s_j - s_i`` but for chance; the s with mean 0 are fitted by least squares.
    """
    compared = wins + wins.swapaxes(1, 2)
    ahead = points * (wins - wins.swapaxes(1, 2)).sum(2)  # of each system on each item
    systems = wins.shape[1]

    def effects(weights: Floats) -> Floats:
        counts = np.tensordot(weights, compared, axes=1)
        laplacian = counts.sum(2)[..., None] * np.eye(systems) - counts
        connected = np.linalg.matrix_rank(laplacian) == systems - 1
        fitted = (np.linalg.pinv(laplacian) @ (weights @ ahead)[..., None])[..., 0]
        return np.where(connected[:, None], fitted, np.nan)

    return effects(np.ones((1, len(wins))))[0], effects


def bradley_terry(wins: Floats) -> tuple[Floats, Strengths]:
    """Maximum likelihood strengths (systems,) from `item_wins`, and under other weights (Bradley and Terry 1952).

    ``P(i beats j) = 1 / (1 + exp(s_j - s_i))``; a tie is half a win for each.
    """
    fitted = strengths(wins.sum(0))
    unknown = np.full(len(fitted), np.nan)

    def value(weights: Floats) -> Floats:
        drawn = np.tensordot(weights, wins, axes=1)
        connected = (connected_components(won, connection="strong")[0] == 1 for won in drawn)
        return np.stack([strengths(won, fitted) if fit else unknown for won, fit in zip(drawn, connected, strict=True)])

    return fitted, value


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


def _refused(wins: Floats, systems: Sequence[str], graded: bool) -> str:
    """Why strengths do not exist; "" if they do. Graded answers only need comparisons that join all systems."""
    if len(systems) < 2 or not wins.any():
        return "no comparisons of two systems"
    count, label = connected_components(wins, connection="weak")
    if count > 1:
        groups = [", ".join(np.array(systems)[label == group]) for group in range(count)]
        return f"no chain of comparisons joins {' with '.join(groups)}"
    count, label = connected_components(wins, connection="strong")
    if graded or count == 1:
        return ""
    # the component that no other system ever beat
    top = next(group for group in range(count) if not wins[np.ix_(label != group, label == group)].any())
    never = ", ".join(np.array(systems)[label == top])
    return f"{never} never lost to the rest and never tied: strengths are infinite; see the shares instead"
