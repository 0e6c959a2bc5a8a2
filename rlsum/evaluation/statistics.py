"""Bootstrap intervals of means, sign-flip permutation tests of differences, Holm's correction.

The unit is the item (an article). Undefined scores are NaN: they are left out, never replaced. All randomness is
seeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.rows import Floats, vector

T = TypeVar("T")

LEVEL = 0.95
RESAMPLES = 10_000
CHUNK = 1_000_000  # resampled values held at once: 8 MB of float64, which fits a processor's cache


class Interval(NamedTuple):
    """A mean and its confidence interval over ``n`` defined items; NaN if there are too few."""

    mean: float
    low: float
    high: float
    n: int


def bootstrap_interval(
    values: ArrayLike, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of the mean of ``values`` (n,) (Efron 1979); NaN for fewer than two defined ones.

    Raises ValueError for an empty or many-dimensional ``values``, a level outside (0, 1), resamples below 1.
    """
    values = vector("values", values)
    _check_resampling(level, resamples)
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        mean = float(defined[0]) if len(defined) else np.nan
        return Interval(mean, np.nan, np.nan, len(defined))
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            defined[generator.integers(0, len(defined), size=(rows, len(defined)), dtype=np.int32)].mean(axis=1)
            for rows in row_blocks(resamples, len(defined))
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(defined.mean()), float(low), float(high), len(defined))


def paired_permutation(a: ArrayLike, b: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p-value of the sign-flip permutation test that ``a`` and ``b`` (n,) score the same items equally.

    Under the null hypothesis the sign of each item's difference is random. ``p = (c + 1) / (R + 1)``, with ``c`` of
    ``R`` flips at least as extreme as the observed difference (Phipson and Smyth 2010), so p is never 0. If there are
    at most ``resamples`` flips besides the observed one, all are tried and p is exact. NaN if no item is defined in
    both. Raises ValueError for empty or unequally long vectors, resamples below 1.
    """
    _check_resampling(LEVEL, resamples)
    first, second = vector("a", a), vector("b", b)
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} scores and b has {len(second)}; pair them by item first")
    differences = (first - second)[~np.isnan(first - second)]
    if not len(differences):
        return float("nan")
    observed = differences.sum()
    totals = 2 * flipped_sums(differences, resamples, seed) - observed  # sum of kept minus sum of flipped
    tolerance = 1e-12 * np.abs(differences).sum()  # sums in another order differ by rounding
    extreme = int((np.abs(totals) >= abs(observed) - tolerance).sum())
    return (extreme + 1) / (len(totals) + 1)


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """P-values (m,) of m tests, adjusted by Holm's step-down method (Holm 1979). A NaN stays NaN and is no test."""
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    order = [index for index in np.argsort(p, kind="stable") if not np.isnan(p[index])]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


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


def _check_resampling(level: float, resamples: int) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie between 0 and 1, such as 0.95")
    if resamples < 1:
        raise ValueError(f"resamples={resamples} must be at least 1; {RESAMPLES:,} is usual")
