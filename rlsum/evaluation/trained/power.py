"""How many seeds and articles a comparison needs: the power of its verdict, before training, by simulation.

The verdict is "better" where a reward's own gain is significant over every opponent (start, continued likelihood), with
Holm's correction for the rewards. The systems' means and mean squares over seeds are drawn, from normal effects, and
tested as `hierarchical` and `verdicts` do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA
from rlsum.evaluation.trained.hierarchical import Components, critical

TARGET = 0.8
MOST_SEEDS = 30
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


@dataclass(frozen=True)
class Draws:
    """Simulated comparisons in which no reward gains anything.

    ``estimate``: differences (draws, rewards, opponents); the last reward is the one that gains. What is significant
    does not depend on the gain, so that one set of draws serves for any.
    """

    estimate: Components
    _critical: dict[float, Floats] = field(default_factory=dict)

    def critical(self, alpha: float) -> Floats:
        """The smallest significant means (draws, rewards, opponents) at level ``alpha``, computed once."""
        if alpha not in self._critical:
            self._critical[alpha] = critical(self.estimate, alpha)
        return self._critical[alpha]

    def power(self, gain: float) -> float:
        """The share of the draws in which the last reward is called better, with a ``gain`` (raw)."""
        return float(self.called_better(gain)[:, -1].mean())

    def called_better(self, gain: float) -> NDArray[np.bool_]:
        """Which rewards (draws, rewards) `verdicts` calls better than all their opponents.

        Holm's method by critical means: with j rewards rejected already, the next largest p must be at most
        ALPHA / (rewards - j).
        """
        means = self.estimate.mean.copy()
        means[:, -1] += gain
        rewards = means.shape[1]
        better = np.zeros(means.shape[:2], dtype=bool)
        going = np.ones(len(better), dtype=bool)
        for before in range(rewards):
            above = (means > self.critical(ALPHA / (rewards - before))).all(axis=2)
            going &= above.sum(axis=1) > before
            better |= above & going[:, None]
            if not going.any():
                break
        return better


def draw(variances: Variances, seeds: int, articles: int, family: Family = Family(), draws: int = DRAWS) -> Draws:
    """Simulated comparisons of a design. Seeded. The mean squares of many articles are taken as known.

    Raises ValueError for fewer than two seeds, which allow no claim about other seeds, or two articles.
    """
    if seeds < 2 or articles < 2:
        raise ValueError(f"seeds={seeds}, articles={articles}: at least two of each are needed")
    generator = np.random.default_rng(0)
    systems = family.opponents + family.rewards
    mean_square = (articles * variances.seed + variances.residual) / 2  # of a system: a difference has two
    of_seeds = np.sqrt(mean_square / articles) * generator.standard_normal((draws, seeds, systems))
    of_articles = np.sqrt(variances.article / 2 / articles) * generator.standard_normal((draws, systems))
    means = of_seeds[..., family.opponents :, None] - of_seeds[..., None, : family.opponents]
    shifts = of_articles[:, family.opponents :, None] - of_articles[:, None, : family.opponents]
    estimate = Components(
        means.mean(1) + shifts,
        by_seed=articles * means.var(1, ddof=1),
        by_article=np.full(shifts.shape, seeds * variances.article + variances.residual),
        residual=np.full(shifts.shape, variances.residual),
        seeds=seeds,
        articles=articles,
    )
    return Draws(estimate)


def power(
    gain: float, variances: Variances, seeds: int, articles: int, family: Family = Family(), draws: int = DRAWS
) -> float:
    """The probability that one reward with a true ``gain`` (raw) over its opponents is called better than all of them.

    The other rewards of the family gain nothing. Raises ValueError as `draw` does.
    """
    return draw(variances, seeds, articles, family, draws).power(gain)


def detectable(
    variances: Variances, seeds: int, articles: int, family: Family = Family(), target: float = TARGET
) -> float:
    """The gain (raw, above 0) that a design shows with power ``target``."""
    drawn = draw(variances, seeds, articles, family)
    low, high = 0.0, 1e-6
    while drawn.power(high) < target:
        low, high = high, 2 * high
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if drawn.power(middle) < target else (low, middle)
    return high


def fewest_seeds(gain: float, variances: Variances, articles: int, family: Family = Family()) -> Design | None:
    """The fewest seeds that show ``gain`` on ``articles`` with power ``TARGET``; None for more than ``MOST_SEEDS``."""
    return _first([(seeds, articles) for seeds in range(2, MOST_SEEDS + 1)], gain, variances, family)


def smallest(gain: float, variances: Variances, family: Family = Family()) -> Design | None:
    """The design with power ``TARGET`` that has the fewest seeds, and of those the fewest articles of ``GRID``.

    A seed is a whole training, an article is only decoded. None where not even ``MOST_SEEDS`` are enough.
    """
    most = fewest_seeds(gain, variances, max(GRID), family)
    if most is None:
        return None
    return _first([(most.seeds, count) for count in GRID], gain, variances, family) or most


def _first(designs: Sequence[tuple[int, int]], gain: float, variances: Variances, family: Family) -> Design | None:
    """The first of (seeds, articles), in the order of their power, that has power ``TARGET``: found by halving."""
    powers: dict[int, float] = {}

    def enough(place: int) -> bool:
        powers[place] = power(gain, variances, *designs[place], family)
        return powers[place] >= TARGET

    place = bisect_left(range(len(designs)), True, key=enough)
    return None if place == len(designs) else Design(*designs[place], powers[place])
