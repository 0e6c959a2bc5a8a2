"""How many seeds and articles a comparison needs: the power of the test of `hierarchical`, before training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv, ndtr

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.hierarchical import Components, critical

TARGET = 0.8
MOST_SEEDS = 30
ALPHA = 0.05
QUANTILES = 400  # of the estimate of the seeds' variance, over which power is averaged
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
class Design:
    """Numbers of seeds and articles, and the power they give."""

    seeds: int
    articles: int
    power: float


def power(gain: float, of: Variances, seeds: int, articles: int, alpha: float = ALPHA) -> float:
    """The probability that a true difference of ``gain`` (raw) is called different, for normal effects.

    Averaged over the distribution of the seeds' mean square; the mean squares of many articles are taken as known.
    Raises ValueError for fewer than two seeds, which allow no claim about other seeds, or two articles.
    """
    if seeds < 2 or articles < 2:
        raise ValueError(f"seeds={seeds}, articles={articles}: at least two of each are needed")
    by_seed = articles * of.seed + of.residual
    estimates = by_seed * _chi_square_quantiles(seeds - 1) / (seeds - 1)
    cells = np.ones_like(estimates)
    found = Components(
        gain * cells, estimates, (seeds * of.article + of.residual) * cells, of.residual * cells, seeds, articles
    )
    error = np.sqrt(of.seed / seeds + of.article / articles + of.residual / (seeds * articles))
    if not error:
        return float(gain != 0)
    bound = critical(found, alpha)
    rejected = ndtr((gain - bound) / error) + ndtr((-bound - gain) / error)
    return float(rejected.mean())


def detectable(of: Variances, seeds: int, articles: int, target: float = TARGET, alpha: float = ALPHA) -> float:
    """The gain (raw, above 0) that a design shows with power ``target``."""
    low, high = 0.0, 1e-6
    while power(high, of, seeds, articles, alpha) < target:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, of, seeds, articles, alpha) < target else (low, middle)
    return high


def fewest_seeds(gain: float, of: Variances, articles: int) -> Design | None:
    """The fewest seeds that show ``gain`` on ``articles`` with power ``TARGET``; None for more than ``MOST_SEEDS``."""
    for seeds in range(2, MOST_SEEDS + 1):
        reached = power(gain, of, seeds, articles)
        if reached >= TARGET:
            return Design(seeds, articles, reached)
    return None


def smallest(gain: float, of: Variances) -> Design | None:
    """The design with power ``TARGET`` that has the fewest seeds, and of those the fewest articles of ``GRID``.

    A seed is a whole training, an article is only decoded. None where not even ``MOST_SEEDS`` are enough.
    """
    most = fewest_seeds(gain, of, max(GRID))
    if most is None:
        return None
    for count in GRID:
        reached = power(gain, of, most.seeds, count)
        if reached >= TARGET:
            return Design(most.seeds, count, reached)
    return most


@lru_cache
def _chi_square_quantiles(df: int) -> Floats:
    """Quantiles (QUANTILES,) at the middles of equal parts; read-only."""
    found: Floats = 2 * gammaincinv(df / 2, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    found.setflags(write=False)
    return found
