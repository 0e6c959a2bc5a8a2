"""Intervals of means, sign-flip permutation tests of differences with their intervals, Holm's correction.

The unit is the item (an article). Undefined scores are NaN: they are left out, never replaced. All randomness is
seeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.rows import Floats, vector

T = TypeVar("T")
Random = Literal["inputs", "systems", "both"]  # what is a sample, `rlsum.evaluation.population`
TestOption = Literal["auto", "williams", "permutation", "clustered permutation"]  # `rlsum.evaluation.significance`

ALPHA = 0.05  # level of tests, but those of a study that has its own
LEVEL = 1 - ALPHA  # of intervals
RESAMPLES = 10_000
EQUAL = 1e-7  # a spread, as a share of the mean, that is rounding alone
MANY = 1_000  # values from which on a mean is normal enough
CHUNK = 1_000_000  # resampled values held at once: 8 MB of float64, which fits a processor's cache


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """``level`` of intervals; ``resamples``: of intervals, and swaps or flips of tests; ``seed`` of both.

    Raises ValueError for a level outside (0, 1) and negative resamples; 0 omits intervals.
    """

    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1 or self.resamples < 0:
            raise ValueError(
                f"level={self.level} must lie between 0 and 1, and resamples={self.resamples} be 0 or more"
            )


USUAL = Uncertainty()
OF_CORRELATIONS = Uncertainty(resamples=2_000)  # a draw of all rows takes long


class Interval(NamedTuple):
    """A mean and its confidence interval over ``n`` defined items; NaN if there are too few."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: ArrayLike, how: Uncertainty = USUAL) -> Interval:
    """Interval of the mean of ``values`` (n,) that holds its level for few and for skewed ones.

    From ``MANY`` defined values on the normal distribution, below the studentised bootstrap (Efron 1979; Hall 1988),
    because plain percentiles of 10 to 30 scores are too close. NaN ends where too few values differ to
    tell, as with 20 scores of 0 or 1 of which one is 1. Raises ValueError for an empty or many-dimensional ``values``,
    and without resamples.
    """
    values = vector("values", values)
    _check_resamples(how)
    defined = values[~np.isnan(values)]
    n, mean = len(defined), float(defined.mean()) if len(defined) else np.nan
    differ = n > 1 and np.ptp(defined) > 0  # the deviation of equal values may be a rounding error
    error = float(defined.std(ddof=1)) / np.sqrt(n) if differ else 0.0
    if not error:
        return Interval(mean, np.nan, np.nan, n)
    if n >= MANY:
        half = NormalDist().inv_cdf((1 + how.level) / 2) * error
        return Interval(mean, mean - half, mean + half, n)
    generator = np.random.default_rng(how.seed)
    ratios = []
    for rows in row_blocks(how.resamples, n):
        drawn = defined[generator.integers(0, n, size=(rows, n), dtype=np.int32)]
        with np.errstate(divide="ignore", invalid="ignore"):  # equal values drawn: an infinite ratio, or none
            ratios.append(
                np.nan_to_num(
                    (drawn.mean(1) - mean) / (drawn.std(1, ddof=1) / np.sqrt(n)), posinf=np.inf, neginf=-np.inf
                )
            )
    ends = [(1 + how.level) / 2, (1 - how.level) / 2]
    low, high = np.quantile(np.concatenate(ratios), ends, method="nearest")
    if np.isinf(low) or np.isinf(high):
        return Interval(mean, np.nan, np.nan, n)
    return Interval(mean, mean - float(low) * error, mean - float(high) * error, n)


def paired_difference(a: ArrayLike, b: ArrayLike, how: Uncertainty = USUAL) -> tuple[Interval, float]:
    """The mean of ``a - b``, both (n,), with its interval, and the two-sided p of the sign-flip permutation test.

    See `sign_flips`; items that are undefined in one are left out. NaN if no item is defined in both. Raises ValueError
    for empty or unequally long vectors, and without resamples.
    """
    _check_resamples(how)
    first, second = vector("a", a), vector("b", b)
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} scores and b has {len(second)}; pair them by item first")
    differences = (first - second)[~np.isnan(first - second)]
    n = len(differences)
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0), np.nan
    p, low, high = sign_flips(differences, how)
    return Interval(float(differences.mean()), low, high, n), p


def sign_flips(differences: Floats, how: Uncertainty) -> tuple[float, float, float]:
    """P of the test that the mean of ``differences`` (n,) is 0, and the ends of its interval, by sign flips.

    Under the null hypothesis the sign of each difference is random. ``p = (c + 1) / (R + 1)``, with ``c`` of ``R``
    flips at least as extreme as what was observed (Phipson and Smyth 2010), so p is never 0. If there are at most
    ``resamples`` flips besides the observed one, all are tried and p is exact. The interval is the set of means d for
    which ``differences - d`` is not rejected, so it excludes 0 where p is at most 1 - ``level``, and only there. A flip
    divides the items into kept and flipped ones, and the test of d counts it if d lies between their two means; so the
    ends are quantiles of the means of subsets of the items (Hartigan 1969). NaN ends if no flip of so few items can
    reject, and if all differences are equal, up to rounding: nothing tells how far others may lie.
    """
    n, total = len(differences), differences.sum()
    kept, sizes = flipped_sums(np.stack([differences, np.ones(n)], axis=1), how.resamples, how.seed).T
    tolerance = 1e-12 * float(np.abs(differences).sum())  # sums in another order differ by rounding
    extreme = int((np.abs(2 * kept - total) >= abs(total) - tolerance).sum())
    p = (extreme + 1) / (len(kept) + 1)
    rank = int((1 - how.level) * (len(kept) + 1) + 1e-9)  # the interval ends where so many flips would count
    if rank < 1 or np.ptp(differences) <= EQUAL * abs(total / n):
        return p, float("nan"), float("nan")
    with np.errstate(invalid="ignore", divide="ignore"):
        halves = np.stack([kept / sizes, (total - kept) / (n - sizes)])
    whole = np.isnan(halves).any(0)  # nothing kept or nothing flipped: counted for every d
    low = np.partition(np.where(whole, -np.inf, halves.min(0)), rank - 1)[rank - 1]
    high = -np.partition(np.where(whole, -np.inf, -halves.max(0)), rank - 1)[rank - 1]
    if np.isinf(low) or np.isinf(high):
        return p, float("nan"), float("nan")
    low, high = (0.0 if abs(end) < tolerance else float(end) for end in (low, high))
    return p, low, high


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """P-values (m, ...) of m tests, adjusted by Holm's step-down method (Holm 1979). A NaN stays NaN and is no test."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, axis=0)  # NaN last
    factors = (~np.isnan(p)).sum(0) - np.arange(len(p)).reshape(-1, *[1] * (p.ndim - 1))
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.take_along_axis(p, order, 0) * factors))
    return np.asarray(np.take_along_axis(adjusted, np.argsort(order, axis=0), 0))


def with_holm(tests: Iterable[T]) -> list[T]:
    """The same results, dataclasses that have ``p`` and ``p_holm``, adjusted as one family."""
    family: list[Any] = list(tests)
    adjusted = holm([test.p for test in family]).tolist()
    return [replace(test, p_holm=p) for test, p in zip(family, adjusted, strict=True)]


def flipped_sums(differences: Floats, resamples: int, seed: int) -> Floats:
    """Sum of the differences (n,) or (n, k) that keep their sign (resamples,) or (resamples, k).

    Of all patterns but the observed one if they are at most ``resamples``, else of random ones.
    """
    n = len(differences)
    if n < 63 and 2**n - 1 <= resamples:
        patterns = np.arange(2**n - 1, dtype=np.int64)  # without the last, which flips nothing
        return ((patterns[:, None] >> np.arange(n)) & 1) @ differences
    generator = np.random.default_rng(seed)
    width = -(-n // 8)  # bytes per row
    return np.concatenate(
        [
            np.unpackbits(generator.integers(0, 256, size=(rows, width), dtype=np.uint8), axis=1, count=n) @ differences
            for rows in row_blocks(resamples, n)
        ]
    )


def row_blocks(total: int, width: int) -> Iterator[int]:
    """Row counts that add up to ``total`` and keep rows x width near CHUNK."""
    rows = max(1, CHUNK // max(1, width))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def _check_resamples(how: Uncertainty) -> None:
    if how.resamples < 1:
        raise ValueError(f"resamples={how.resamples} must be at least 1; {RESAMPLES:,} is usual")
