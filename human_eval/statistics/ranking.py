"""Strengths of several systems from pairs: Bradley and Terry's model of votes, Scheffe's of graded preferences.

Votes of rankings are those of their pairs. Under the model of Plackett and Luce, each pair of a ranking follows that of
Bradley and Terry with the same strengths, so these are consistent for it, too. Only this module imports choix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from human_eval.statistics.random_judges import Layout
from human_eval.study import Pair
from human_eval.votes.votes import Floats, Vote, unknown
from rlsum.evaluation.statistics import LEVEL

TOLERANCE = 1e-6  # sum of changes of strengths at convergence


@dataclass(frozen=True)
class Strength:
    """A system's strength (mean over systems 0) with its interval, and the ranks (1 = best) that the tests allow.

    ``strength``: a log-strength, or points of the scale of graded answers. ``share``: the expected share of comparisons
    won, averaged over the other systems; NaN of graded answers.
    """

    system: str
    strength: float
    low: float
    high: float
    share: float
    rank_low: int
    rank_high: int


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
    better: Collection[Pair] | None = None,
    level: float = LEVEL,
) -> SystemRanking:
    """Strengths of ``systems`` from votes on one criterion: `scheffe` of graded answers, which have ``points``, else
    `strengths` of Bradley and Terry.

    Each item counts once for each pair, as the mean of its votes. ``same``: unjudged ties. Intervals are simultaneous
    for all systems, at ``level``, and take items and judges as random. ``better``: (better, worse) system of each
    detected difference, which limits ranks; the interval of a system in none of them holds 0. The ranking is empty,
    with a reason, if no chain of comparisons joins all systems, or the model has no fit.
    """
    wins = item_wins(votes, systems, same).sum(0)
    if reason := _refused(wins, systems, points > 0):
        return SystemRanking(reason=reason, points=points)
    fitted = scheffe(wins, points) if points else strengths(wins)
    halves, reason = _half_widths(votes, systems, fitted, wins, points, level)
    rows = []
    for index in np.argsort(-fitted, kind="stable"):
        name, value = systems[index], float(fitted[index])
        share = float(np.mean([1 / (1 + np.exp(rival - value)) for rival in np.delete(fitted, index)]))
        above, below = (sum(pair[side] == name for pair in set(better or ())) for side in (1, 0))
        low, high = value - halves[index], value + halves[index]
        if better is not None and not above + below:
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        ranks = 1 + above, len(systems) - below
        rows.append(Strength(name, value, float(low), float(high), np.nan if points else share, *ranks))
    return SystemRanking(tuple(rows), reason, points)


def scheffe(wins: Floats, points: float) -> Floats:
    """Main effects (systems,) in points from graded ``wins`` (i over j) (Scheffe 1952).

    The preference for j over i is ``s_j - s_i`` but for chance; the s with mean 0 are fitted by least squares.
    """
    return np.asarray(np.linalg.pinv(_laplacian(wins + wins.T)) @ (points * (wins - wins.T).sum(1)))


def _half_widths(
    votes: Sequence[Vote], systems: Sequence[str], fitted: Floats, wins: Floats, points: float, level: float
) -> tuple[Floats, str]:
    """Half the width of the interval of each strength (systems,), or NaN and why there is none.

    The influence of a judge's votes on an item: what they have beyond the fit, times the inverse of its curvature.
    """
    gaps = fitted[None] - fitted[:, None]  # of the second system, in columns, over the first
    expected = gaps / points if points else np.tanh(gaps / 2)  # votes in [-1, 1]
    slopes = np.full(gaps.shape, 1 / points) if points else (1 - expected**2) / 2
    index = {system: number for number, system in enumerate(systems)}
    judged = Counter((vote.item, vote.pair) for vote in votes)
    cells: dict[tuple[str, str], Floats] = {}
    for vote in votes:
        first, second = (index[system] for system in vote.pair)
        weight = 1 / judged[vote.item, vote.pair]
        cell = cells.setdefault((vote.item, vote.judge), np.zeros(len(systems) + 1))
        beyond = weight * (vote.preference - expected[first, second])
        cell[[first, second, -1]] += -beyond, beyond, weight
    _, item = np.unique([item for item, _ in cells], return_inverse=True)
    _, judge = np.unique([judge for _, judge in cells], return_inverse=True)
    scores = np.array(list(cells.values()))
    weight = scores[:, -1] / scores[:, -1].sum()
    layout = Layout(item, judge, weight)
    if refused := unknown(vote.judge for vote in votes) or layout.refused:
        return np.full(len(systems), np.nan), f"no interval: {refused}"
    influence = scores[:, :-1] @ np.linalg.pinv(_laplacian((wins + wins.T) * slopes)) / weight[:, None]
    ends = [layout.interval(column, level=1 - (1 - level) / len(systems)) for column in influence.T]
    halves = np.array([(high - low) / 2 for low, high, _, _ in ends])
    return halves, "no interval: all judges say the same, so their spread is unknown" if np.isnan(halves).all() else ""


def _laplacian(edges: Floats) -> Floats:
    return np.diag(edges.sum(1)) - edges


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


def strengths(wins: Floats) -> Floats:
    """Log-strengths (systems,) with mean 0 from ``wins`` (i beats j), a strongly connected graph, by maximum
    likelihood (Bradley and Terry 1952): ``P(i beats j) = 1 / (1 + exp(s_j - s_i))``; a tie is half a win for each.
    """
    from choix import ilsr_pairwise_dense

    log_strengths = np.asarray(ilsr_pairwise_dense(wins, max_iter=10_000, tol=TOLERANCE))
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
