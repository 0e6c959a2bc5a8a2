"""Simulated votes with a known preference: power and false alarms of the tests of an analysis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from human_eval.planning.assumptions import Assumptions
from human_eval.statistics.outcomes import MOST
from human_eval.statistics.random_judges import Layout
from human_eval.votes.votes import Floats
from rlsum.evaluation.rows import Ints
from rlsum.evaluation.statistics import holm

BLOCK = 500  # studies simulated at once
CELLS = 25_000_000  # votes simulated at once
FLIPS = 999  # per simulated test; p can be exactly .05, so the test can reach its nominal level


class Claims(NamedTuple):
    """Of comparisons in studies (comparisons, draws): whether these judges lean to a system, and it is claimed."""

    leaning: NDArray[np.bool_]
    preferred: NDArray[np.bool_]


def claimed(votes: Floats, assigned: Ints, *, alike: bool, alpha: float, generator: Generator) -> Claims:
    """What the card of each study says, given ``votes`` (comparisons, draws, items, judges), as `analyse` does.

    All comparisons are one family of Holm's correction. These judges lean to a system where the sign-flip test rejects
    and no judge alone `decides` that. With ``alike`` it is claimed where the test of judges like these rejects, too.
    ``assigned`` as in `draw_judged`.
    """
    layout, means = layout_of(assigned), votes.mean(3)
    leaning = holm(_flipped(means, generator)) <= alpha + 1e-12
    lead, without = means.mean(2), _without_each(votes, assigned)
    shrunk = leaning[..., None] & (without * np.sign(lead)[..., None] <= MOST * np.abs(lead)[..., None] + 2e-9)
    decided = np.zeros_like(leaning)
    for judge in np.flatnonzero(shrunk.any((0, 1))) if layout.judges > 1 else ():
        studies, others = np.flatnonzero(shrunk[..., judge].any(0)), assigned != judge
        kept = others.any(1)
        rest = (votes[:, studies] * others).sum(3)[..., kept] / others.sum(1)[kept]
        decided[:, studies] |= shrunk[:, studies, judge] & (holm(_flipped(rest, generator)) > alpha + 1e-12)
    leaning &= ~decided
    if not alike:
        return Claims(leaning, leaning)
    p = np.stack([layout.p_values(rows.reshape(len(rows), -1)) for rows in votes])
    return Claims(leaning, leaning & (holm(p) <= alpha + 1e-12))


def _flipped(means: Floats, generator: Generator) -> Floats:
    """P of the sign-flip test (comparisons, draws) on the means of items (comparisons, draws, items)."""
    return sign_flip_p(means.reshape(-1, means.shape[2]), FLIPS, generator).reshape(means.shape[:2])


def _without_each(votes: Floats, assigned: Ints) -> Floats:
    """The mean over items (comparisons, draws, people) without each judge in turn."""
    means, others = votes.mean(3, keepdims=True), votes.shape[3] - 1
    change = (means - votes) / others if others else -votes  # of an item's mean; an item of one judge is dropped
    of_judge = assigned.reshape(-1, 1) == np.arange(assigned.max() + 1)
    items = len(assigned) - (0 if others else of_judge.sum(0))
    with np.errstate(invalid="ignore", divide="ignore"):  # one judge of all items
        return np.asarray((means.sum((2, 3))[..., None] + change.reshape(*votes.shape[:2], -1) @ of_judge) / items)


def draw_shares(assumptions: Assumptions, items: int, draws: int, generator: Generator) -> Floats:
    """Each item's shares of votes for the first system, neither, the second (draws, items, 3)."""
    shares, rho = assumptions.shares(), assumptions.correlation
    if rho == 0:
        return np.broadcast_to(shares, (draws, items, 3))
    if rho == 1:
        return generator.multinomial(1, shares, size=(draws, items)).astype(np.float64)
    possible = shares > 0
    item_shares = np.zeros((draws, items, 3))
    item_shares[..., possible] = generator.dirichlet(shares[possible] * (1 - rho) / rho, size=(draws, items))
    return item_shares


def blocks(draws: int, votes: int) -> list[int]:
    """Numbers of studies with so many ``votes`` each to simulate at once, ``draws`` in all."""
    size = min(BLOCK, max(1, CELLS // votes))
    return [min(size, draws - start) for start in range(0, draws, size)]


def layout_of(assigned: Ints) -> Layout:
    """The layout of the votes of the judges ``assigned`` (items, judges of each)."""
    items, judges = assigned.shape
    return Layout(np.repeat(np.arange(items), judges), assigned.ravel())


def dealt(items: int, judges: int, booklets: int) -> Ints:
    """The judge of each vote (items, judges), as `build` deals items: in each round, each to one of ``booklets``."""
    return np.stack([number * booklets + np.arange(items) % booklets for number in range(judges)], axis=1)


def draw_judged(assumptions: Assumptions, assigned: Ints, draws: int, generator: Generator) -> Floats:
    """Single votes of -1, 0 and 1 (draws, items, judges) by the judges ``assigned`` (items, judges) to each item."""
    shares = draw_shares(assumptions, len(assigned), draws, generator)
    drawn = generator.random((draws, *assigned.shape))
    votes = (drawn >= shares[..., :1]).astype(np.float64) - (drawn < shares[..., :1] + shares[..., 1:2])
    if not assumptions.spread:
        return votes
    first, _, second = assumptions.shares()
    leaning = generator.normal(0, assumptions.spread, (draws, int(assigned.max()) + 1))[:, assigned]
    turned = generator.random(votes.shape) < np.where(leaning > 0, leaning / first, -leaning / second)
    return np.where(turned & (votes * leaning < 0), -votes, votes)


def sign_flip_p(means: Floats, flips: int, generator: Generator) -> Floats:
    """P-values (draws,) of the sign-flip test on ``means`` (draws, items): `paired_difference` of many studies.

    Exact if there are at most ``flips`` patterns besides the observed one.
    """
    items = means.shape[1]
    if items < 63 and 2**items - 1 <= flips:
        patterns = (np.arange(2**items - 1)[:, None] >> np.arange(items)) & 1
    else:
        patterns = generator.integers(0, 2, size=(flips, items), dtype=np.int8)
    totals = np.abs((2.0 * patterns - 1) @ means.T)
    extreme = (totals >= np.abs(means.sum(1)) - 1e-9).sum(0)
    return (extreme + 1) / (len(patterns) + 1)
