"""Bradley and Terry's model: strengths of several systems from comparisons of two (the only import of choix)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from human_eval.statistics.votes import Floats, Pair, Vote
from rlsum.evaluation.correlation import LEVEL, bootstrap_values, percentiles

RESAMPLES = 1_000
TOLERANCE = 1e-6  # sum of changes of strengths at which they are final


@dataclass(frozen=True)
class Strength:
    """A system's log-strength with its interval, all systems' mean being 0, and the interval of its rank (1 = best).

    ``share`` is the share of comparisons it is expected to win, averaged over the other systems.
    """

    system: str
    strength: float
    low: float
    high: float
    share: float
    rank_low: float
    rank_high: float


@dataclass(frozen=True)
class Ranking:
    """Systems from strongest to weakest; empty where ``reason`` says why. ``reason`` may also concern the intervals."""

    systems: tuple[Strength, ...] = ()
    reason: str = ""


def bradley_terry(
    votes: Sequence[Vote],
    systems: Sequence[str],
    *,
    same: Sequence[tuple[Pair, str]] = (),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ranking:
    """Maximum likelihood strengths of ``systems`` from votes on one criterion (Bradley and Terry 1952).

    ``P(i beats j) = 1 / (1 + exp(s_j - s_i))``; a tie is half a win for each. Each item counts once for each pair, as
    the mean of its votes, and the bootstrap draws items. ``same`` are ties that nobody judged. Refused, with the
    reason, where no chain of comparisons joins all systems, or some never lost to the rest: strengths are then
    infinite.
    """
    wins = item_wins(votes, systems, same)
    total = wins.sum(0)
    if reason := _refused(total, systems):
        return Ranking(reason=reason)
    found = strengths(total)

    def value(weights: Floats) -> Floats:
        return np.stack([_or_nan(drawn, found) for drawn in np.tensordot(weights, wins, axes=1)])

    if len(wins) < 2:
        drawn, reason = np.full((1, len(systems)), np.nan), "no interval: one item"
    else:
        drawn, reason = bootstrap_values(value, len(wins), resamples, seed), ""
    ranks = np.where(np.isnan(drawn), np.nan, rankdata(-drawn, axis=1))
    rows = []
    for place in np.argsort(-found, kind="stable"):
        low, high, why = percentiles(drawn[:, place], level)
        best, worst, _ = percentiles(ranks[:, place], level)
        reason = reason or why
        share = float(np.mean([expected(found[place] - other) for other in np.delete(found, place)]))
        rows.append(Strength(systems[place], float(found[place]), low, high, share, best, worst))
    return Ranking(tuple(rows), reason)


def item_wins(votes: Sequence[Vote], systems: Sequence[str], same: Sequence[tuple[Pair, str]] = ()) -> Floats:
    """How often system i beat system j on each item (items, i, j); the comparisons of a pair on an item add up to 1."""
    place = {system: number for number, system in enumerate(systems)}
    chosen: dict[tuple[str, Pair], list[float]] = {}
    for vote in votes:
        chosen.setdefault((vote.item, vote.pair), []).append(vote.preference)
    chosen.update({(item, pair): [0.0] for pair, item in same})
    items = {item: number for number, item in enumerate(sorted({item for item, _ in chosen}))}
    wins = np.zeros((len(items), len(systems), len(systems)))
    for (item, (first, second)), preferences in chosen.items():
        share = (1 + sum(preferences) / len(preferences)) / 2
        wins[items[item], place[second], place[first]] += share
        wins[items[item], place[first], place[second]] += 1 - share
    return wins


def strengths(wins: Floats, start: Floats | None = None) -> Floats:
    """Log-strengths (systems,) of mean 0 from ``wins`` (i beats j), which must be strongly connected."""
    from choix import ilsr_pairwise_dense

    found = np.asarray(ilsr_pairwise_dense(wins, initial_params=start, max_iter=10_000, tol=TOLERANCE))
    return found - found.mean()


def expected(difference: float) -> float:
    """The probability that a system beats another that is weaker by ``difference``."""
    return float(1 / (1 + np.exp(-difference)))


def _or_nan(wins: Floats, start: Floats) -> Floats:
    everyone_won = np.count_nonzero(wins) == wins.size - len(wins)  # then all are connected: the usual case
    connected = everyone_won or _components(wins, "strong")[0] == 1
    return strengths(wins, start) if connected else np.full(len(wins), np.nan)


def _components(wins: Floats, connection: Literal["weak", "strong"]) -> tuple[int, NDArray[np.int32]]:
    graph = csr_matrix((wins > 0).astype(np.float64))
    count, label = connected_components(graph, directed=True, connection=connection)
    return int(count), label


def _refused(wins: Floats, systems: Sequence[str]) -> str:
    """Why strengths do not exist; empty where they do."""
    if len(systems) < 2 or not wins.any():
        return "no comparisons of two systems"
    count, label = _components(wins, "weak")
    if count > 1:
        groups = [", ".join(np.array(systems)[label == group]) for group in range(count)]
        return f"no chain of comparisons joins {' with '.join(groups)}; a ranking of all needs one"
    count, label = _components(wins, "strong")
    if count > 1:
        # a component that nothing outside ever beat
        top = next(group for group in range(count) if not wins[np.ix_(label != group, label == group)].any())
        never = ", ".join(np.array(systems)[label == top])
        return f"{never} never lost to the rest, not even a tie: strengths have no bound; read the shares instead"
    return ""
