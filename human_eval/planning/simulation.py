"""Simulated votes with a known preference: power and false alarms of the tests of an analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from human_eval.statistics.random_judges import Layout
from human_eval.statistics.votes import Floats
from rlsum.evaluation.rows import Ints

BLOCK = 500  # studies simulated at once
CELLS = 25_000_000  # votes simulated at once
FLIPS = 999  # per simulated test; p can be exactly .05, so the test can reach its nominal level


@dataclass(frozen=True)
class Assumptions:
    """How judges vote.

    ``preference``: share of the second system among votes for one of the two. ``ties``: share of votes for neither.
    ``correlation``: that of two votes on one item (intraclass, votes coded -1, 0, 1). The shares of each item are drawn
    from a Dirichlet distribution, under which every coding of votes has exactly this correlation. ``spread``: standard
    deviation of the judges' own shares of the second system. A judge who leans towards a system by d turns so many
    votes for the other into votes for it that the judge's share is d higher.
    """

    preference: float = 0.6
    ties: float = 0.0
    correlation: float = 0.3
    spread: float = 0.0

    def shares(self) -> Floats:
        """Shares of votes for the first system, neither, the second (3,)."""
        decided = 1 - self.ties
        return np.array([decided * (1 - self.preference), self.ties, decided * self.preference])


def rejections(
    assumptions: Assumptions, items: int, judges: int, *, alpha: float = 0.05, draws: int = 2_000, seed: int = 0
) -> float:
    """The share of simulated studies in which the sign-flip test rejects equality: the power; with preference .5 the
    false alarms.
    """
    p = np.concatenate([p for _, p in tested_studies(assumptions, items, judges, draws=draws, seed=seed)])
    return float((p <= alpha + 1e-12).mean())


def rejections_alike(
    assumptions: Assumptions, assigned: Ints, *, alpha: float = 0.05, draws: int = 2_000, seed: int = 0
) -> float:
    """The share of simulated studies in which the test of judges like these (see `RandomJudges`) rejects equality.

    ``assigned`` as in `draw_judged`; also of so few judges or items that an analysis refuses the test.
    """
    layout, generator, rejected = layout_of(assigned), np.random.default_rng(seed), 0
    for studies in blocks(draws, assigned.size):
        votes = draw_judged(assumptions, assigned, studies, generator)
        rejected += int((layout.p_values(votes.reshape(len(votes), -1)) <= alpha + 1e-12).sum())
    return rejected / draws


def tested_studies(
    assumptions: Assumptions, items: int, judges: int, *, draws: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of simulated studies: votes (b, items, 3), as `draw_votes` does, and p of the sign-flip test (b,).

    A block shares its random sign flips. Seeded.
    """
    generator = np.random.default_rng(seed)
    for studies in blocks(draws, items):
        votes = draw_votes(assumptions, items, judges, studies, generator)
        yield votes, sign_flip_p((votes[..., 2] - votes[..., 0]) / judges, FLIPS, generator)


def draw_votes(assumptions: Assumptions, items: int, judges: int, draws: int, generator: Generator) -> Floats:
    """Votes for the first system, neither, the second, on each item (draws, items, 3)."""
    shares = draw_shares(assumptions, items, draws, generator)
    return generator.multinomial(judges, shares).astype(np.float64)


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
