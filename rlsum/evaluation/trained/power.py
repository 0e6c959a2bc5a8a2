"""How many seeds and articles a comparison needs: the power of its verdict, before training, by simulation.

The verdict is "better" where a reward's own gain is significant over every opponent (start, continued likelihood), with
Holm's correction for the rewards. The systems' means and mean squares over seeds are drawn, from normal effects, and
tested as `hierarchical` and `verdicts` do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlsum.evaluation.trained.hierarchical import Components, critical

TARGET = 0.8
MOST_SEEDS = 30
ALPHA = 0.05
DRAWS = 2_000  # simulated comparisons: a standard error of a point
GRID = (100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000)  # articles that a plan tries


@dataclass(frozen=True)
class Variances:
    """Variances of the difference of two systems, of raw scores (0 to 1): between seeds, between articles (shared by
    the seeds) and of the rest. ``source`` says where they are from.

    Raises ValueError for a negative one.
    """

    seed: float
    article: float
    residual: float
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("seed", "article", "residual"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}={getattr(self, name)} must be a variance, 0 or more")


DEFAULTS = Variances(0.005**2, 0.06**2, 0.08**2, "assumed: SD .5 points of a seed, 6 of an article, 8 of the rest")


@dataclass(frozen=True)
class Family:
    """The verdicts of one table: on so many ``rewards``, against so many ``opponents`` each."""

    rewards: int = 1
    opponents: int = 1


@dataclass(frozen=True)
class Design:
    """Numbers of seeds and articles, and the power they give."""

    seeds: int
    articles: int
    power: float


def power(
    gain: float, of: Variances, seeds: int, articles: int, family: Family = Family(), draws: int = DRAWS
) -> float:
    """The probability that one reward with a true ``gain`` (raw) over its opponents is called better than all of them.

    The other rewards of the family gain nothing. The mean squares of many articles are taken as known. Seeded. Raises
    ValueError for fewer than two seeds, which allow no claim about other seeds, or two articles.
    """
    if seeds < 2 or articles < 2:
        raise ValueError(f"seeds={seeds}, articles={articles}: at least two of each are needed")
    generator = np.random.default_rng(0)
    systems = family.opponents + family.rewards  # the last is the reward that gains
    own = Variances(of.seed / 2, of.article / 2, of.residual / 2)  # of a system: a difference has two
    mean_square = articles * own.seed + own.residual
    of_seeds = np.sqrt(mean_square / articles) * generator.standard_normal((draws, seeds, systems))
    of_articles = np.sqrt(own.article / articles) * generator.standard_normal((draws, systems))
    of_articles[:, -1] += gain
    means = of_seeds[..., family.opponents :, None] - of_seeds[..., None, : family.opponents]
    other = of_articles[:, family.opponents :, None] - of_articles[:, None, : family.opponents]
    shape = other.shape  # (draws, rewards, opponents)
    estimate = Components(
        means.mean(1) + other,
        by_seed=articles * means.var(1, ddof=1),
        by_article=np.full(shape, seeds * of.article + of.residual),
        residual=np.full(shape, of.residual),
        seeds=seeds,
        articles=articles,
    )
    return float(called_better(estimate)[:, -1].mean())


def called_better(estimate: Components, alpha: float = ALPHA) -> NDArray[np.bool_]:
    """Which systems (draws, systems) `verdicts` calls better than all their opponents; differences (..., opponents).

    Holm's method by critical means: with j systems rejected already, the next largest p must be at most
    alpha / (systems - j).
    """
    systems = estimate.mean.shape[1]
    better = np.zeros(estimate.mean.shape[:2], dtype=bool)
    going = np.ones(len(better), dtype=bool)
    for before in range(systems):
        above = (estimate.mean > critical(estimate, alpha / (systems - before))).all(axis=2)
        going &= above.sum(axis=1) > before
        better |= above & going[:, None]
    return better


def detectable(of: Variances, seeds: int, articles: int, family: Family = Family(), target: float = TARGET) -> float:
    """The gain (raw, above 0) that a design shows with power ``target``."""
    low, high = 0.0, 1e-6
    while power(high, of, seeds, articles, family) < target:
        low, high = high, 2 * high
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, of, seeds, articles, family) < target else (low, middle)
    return high


def fewest_seeds(gain: float, of: Variances, articles: int, family: Family = Family()) -> Design | None:
    """The fewest seeds that show ``gain`` on ``articles`` with power ``TARGET``; None for more than ``MOST_SEEDS``."""
    return _first(
        Design(seeds, articles, power(gain, of, seeds, articles, family)) for seeds in range(2, MOST_SEEDS + 1)
    )


def smallest(gain: float, of: Variances, family: Family = Family()) -> Design | None:
    """The design with power ``TARGET`` that has the fewest seeds, and of those the fewest articles of ``GRID``.

    A seed is a whole training, an article is only decoded. None where not even ``MOST_SEEDS`` are enough.
    """
    most = fewest_seeds(gain, of, max(GRID), family)
    if most is None:
        return None
    return _first(Design(most.seeds, count, power(gain, of, most.seeds, count, family)) for count in GRID) or most


def _first(designs: Iterator[Design]) -> Design | None:
    return next((design for design in designs if design.power >= TARGET), None)
