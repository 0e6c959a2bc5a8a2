"""Simulated votes with a known preference: power and false alarms of the test in `preference`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from human_eval.statistics.votes import Floats

BLOCK = 500  # studies simulated at once
FLIPS = 999  # per simulated test; p can be exactly .05, so the test can reach its nominal level


@dataclass(frozen=True)
class Assumptions:
    """How judges vote.

    ``preference``: share of the second system among votes for one of the two. ``ties``: share of votes for neither.
    ``correlation``: that of two votes on one item (intraclass, votes coded -1, 0, 1). The shares of each item are drawn
    from a Dirichlet distribution, under which every coding of votes has exactly this correlation.
    """

    preference: float = 0.6
    ties: float = 0.0
    correlation: float = 0.3

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


def tested_studies(
    assumptions: Assumptions, items: int, judges: int, *, draws: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of simulated studies: votes (b, items, 3), as `draw_votes` does, and p of the sign-flip test (b,).

    A block shares its random sign flips. Seeded.
    """
    generator = np.random.default_rng(seed)
    for start in range(0, draws, BLOCK):
        votes = draw_votes(assumptions, items, judges, min(BLOCK, draws - start), generator)
        yield votes, sign_flip_p((votes[..., 2] - votes[..., 0]) / judges, FLIPS, generator)


def draw_votes(assumptions: Assumptions, items: int, judges: int, draws: int, generator: Generator) -> Floats:
    """Votes for the first system, neither, the second, on each item (draws, items, 3)."""
    shares, rho = assumptions.shares(), assumptions.correlation
    if rho == 0:
        return generator.multinomial(judges, shares, size=(draws, items)).astype(np.float64)
    possible = shares > 0
    votes = np.zeros((draws, items, 3))
    if rho == 1:
        votes[...] = judges * generator.multinomial(1, shares, size=(draws, items))
        return votes
    item_shares = generator.dirichlet(shares[possible] * (1 - rho) / rho, size=(draws, items))
    votes[..., possible] = generator.multinomial(judges, item_shares)
    return votes


def sign_flip_p(means: Floats, flips: int, generator: Generator) -> Floats:
    """P-values (draws,) of the sign-flip test on ``means`` (draws, items): `paired_permutation` of many studies.

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
