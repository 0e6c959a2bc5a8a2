"""Differences of two systems that were trained in several seeds and tested on the same articles.

A difference of seed s on article j is ``mean + seed_s + article_j + residual_sj``: a seed is a whole training, an
article is hard or easy for the difference in every seed (crossed, not nested). Both are random, so that a claim holds
for other seeds and other articles. With B = (seed variance) / n + (residual variance) / (nm) and A = (article
variance) / m, the variance of the mean of n seeds and m articles is A + B. A is known well, B has n - 1 degrees of
freedom, and a small estimate of B is often chance. `degrees_of_freedom` says how far it is trusted;
docs/results/calibration.md compares the alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import EQUAL, LEVEL

TWO_SEEDS, MORE_SEEDS = (0.21, 5), (1.0, 2)  # factor and power in `degrees_of_freedom`, set by simulation
STEPS = 60  # halvings of the search for a p-value, to 12 digits


@dataclass(frozen=True)
class Components:
    """Mean and mean squares of differences, each of any one shape (...), over ``seeds`` and ``articles``.

    ``by_seed``, ``by_article`` and ``residual`` are the mean squares of the two-way analysis of variance, with
    expectations m*seed + residual, n*article + residual and residual variance. With one seed, ``by_article`` is the
    variance over articles and the others are NaN.
    """

    mean: Floats
    by_seed: Floats
    by_article: Floats
    residual: Floats
    seeds: int
    articles: int

    @property
    def from_articles(self) -> Floats:
        """A, the part of the mean's variance that more articles alone reduce (...); with one seed all of it.

        Where the seeds' means differ by less than the residual explains, B is small by chance. A then fills up what
        articles alone would give, so that A + B is never below ``by_article`` / (nm).
        """
        cells = self.seeds * self.articles
        if self.seeds == 1:
            return self.by_article / cells
        return np.maximum(self.by_article - np.minimum(self.residual, self.by_seed), 0) / cells

    @property
    def from_seeds(self) -> Floats:
        """B, the part of the mean's variance that more seeds alone reduce (...); 0 with one seed."""
        if self.seeds == 1:
            return np.zeros_like(self.mean)
        return self.by_seed / (self.seeds * self.articles)

    @property
    def error(self) -> Floats:
        """Standard error of the mean (...)."""
        return np.sqrt(self.from_articles + self.from_seeds)

    @property
    def equal(self) -> NDArray[np.bool_]:
        """Whether all differences are equal (...), up to rounding: then nothing tells how far others may lie."""
        return np.asarray(self.error <= EQUAL * np.abs(self.mean))


@dataclass(frozen=True)
class Difference:
    """The mean difference of two systems with its interval and two-sided p-value.

    ``seeds`` and ``articles`` are the numbers that entered. With one seed only articles are random: the result is
    about these two models and says nothing about other trainings. NaN without two articles; equal differences have no
    interval, and a p of 1 where they are 0, otherwise none.
    ``p_holm``: p adjusted for a family of tests, NaN before that.
    """

    mean: float
    low: float
    high: float
    p: float
    seeds: int
    articles: int
    components: Components
    p_holm: float = float("nan")


def paired_table(a: ArrayLike, b: ArrayLike) -> Floats:
    """``a - b`` (seeds, articles) of scores (seeds, articles); one row is a system without seeds, such as a start.

    Rows are the same seeds in both; NaN where a score is undefined. Raises ValueError for other shapes.
    """
    first, second = (np.atleast_2d(np.asarray(scores, dtype=np.float64)) for scores in (a, b))
    rows = {len(first), len(second)} - {1}
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1] or len(rows) > 1:
        shapes = f"a has shape {np.shape(a)} and b {np.shape(b)}"
        raise ValueError(f"{shapes}; give (seeds, articles) of the same seeds and articles, or one row without seeds")
    return first - second


def complete(table: Floats) -> Floats:
    """Without each seed that has no number at all, then without each article that is undefined in a remaining seed."""
    kept = table[~np.isnan(table).all(axis=1)]
    return kept[:, ~np.isnan(kept).any(axis=0)]


def compare_systems(a: ArrayLike, b: ArrayLike) -> Difference:
    """System ``a`` less ``b``, scores as in `paired_table`, with its interval at ``LEVEL``."""
    return mean_difference(paired_table(a, b))


def mean_difference(table: Floats) -> Difference:
    """The mean of differences (seeds, articles) with its interval at ``LEVEL`` and its test; see `complete`."""
    differences = complete(table)
    seeds, articles = differences.shape
    estimate = components(differences)
    low, high = interval(estimate)
    return Difference(
        float(estimate.mean), float(low), float(high), float(p_value(estimate)), seeds, articles, estimate
    )


def components(differences: Floats) -> Components:
    """Mean squares of differences (..., seeds, articles); NaN with fewer than two articles or without a seed."""
    seeds, articles = differences.shape[-2:]
    if articles < 2 or not seeds:
        nan = np.full(differences.shape[:-2], np.nan)
        mean = differences.mean((-2, -1)) if seeds and articles else nan
        return Components(mean, nan, nan, nan, seeds, articles)
    mean = differences.mean((-2, -1))
    of_article = differences.mean(-2)
    by_article = seeds * of_article.var(-1, ddof=1)
    if seeds == 1:
        nan = np.full_like(mean, np.nan)
        return Components(mean, nan, by_article, nan, seeds, articles)
    of_seed = differences.mean(-1)
    rest = differences - of_seed[..., None] - of_article[..., None, :] + mean[..., None, None]
    residual = (rest**2).sum((-2, -1)) / ((seeds - 1) * (articles - 1))
    return Components(mean, articles * of_seed.var(-1, ddof=1), by_article, residual, seeds, articles)


def degrees_of_freedom(estimate: Components, alpha: float | Floats) -> Floats:
    """Degrees of freedom (...) of the mean over its standard error, at the two-sided level ``alpha``.

    k * (1 + (c A / B)^q) for k + 1 seeds, at most m - 1: k where seeds dominate, m - 1 where articles do. c and q
    are 1 and 2 (Satterthwaite's formula without its mixed term), 0.21 and 5 for two seeds. c is multiplied by
    (alpha / .05)^(1.5 / k), because at a small level a small chance of an estimate of B near 0 is too large. With
    Satterthwaite's own formula the test of two seeds rejects up to 13% instead of 5%.
    """
    if estimate.seeds == 1:
        return np.full(np.shape(estimate.mean), estimate.articles - 1.0)
    k = estimate.seeds - 1
    factor, power = TWO_SEEDS if k == 1 else MORE_SEEDS
    trust = factor * (np.asarray(alpha) / 0.05) ** (1.5 / k)
    a, b = estimate.from_articles, estimate.from_seeds
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(a > 0, trust * a / b, 0.0)
        return np.minimum(k * (1 + ratio**power), estimate.articles - 1.0)


def critical(estimate: Components, alpha: float) -> Floats:
    """The smallest absolute mean (...) that is significant at the two-sided level ``alpha``."""
    return -stdtrit(degrees_of_freedom(estimate, alpha), alpha / 2) * estimate.error


def interval(estimate: Components, level: float = LEVEL) -> tuple[Floats, Floats]:
    """The ends (...) of the interval of the mean at ``level``, dual to `p_value`. Raises ValueError for a level
    outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie between 0 and 1, such as {LEVEL}")
    half = np.where(estimate.equal, np.nan, critical(estimate, 1 - level))
    return estimate.mean - half, estimate.mean + half


def p_value(estimate: Components, against: float = 0.0) -> Floats:
    """Two-sided p (...) of the hypothesis that the mean is ``against``: the smallest level that rejects it.

    1 where every difference equals ``against``, NaN where the standard error is unknown: as of equal differences.
    """
    distance = np.abs(estimate.mean - against)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(distance > 0, distance / estimate.error, 0.0)
    low, high = np.full(np.shape(t), -700.0), np.zeros(np.shape(t))  # logarithms of levels
    for _ in range(STEPS):
        middle = (low + high) / 2
        level = np.exp(middle)
        rejected = 2 * stdtr(degrees_of_freedom(estimate, level), -t) <= level
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    unknown = np.isnan(estimate.error) | (estimate.equal & (distance > 0))
    return np.where(unknown, np.nan, np.exp(high))


def p_no_worse(estimate: Components, margin: float) -> Floats:
    """One-sided p (...) of the hypothesis that the mean is ``-margin`` or lower; small: no worse than by ``margin``.

    One of the two tests of TOST (Schuirmann 1987); at 5% it rejects where the 90% interval lies above ``-margin``.
    Raises ValueError for a margin that is not positive.
    """
    if not margin > 0:
        raise ValueError(f"margin={margin} must be positive, such as 0.01 for a point of a score x 100")
    half = p_value(estimate, -margin) / 2
    return np.where(estimate.mean > -margin, half, 1 - half)
