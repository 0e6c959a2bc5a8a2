"""Statistics of weighted rows: the engine of the bootstrap, the permutation tests and the plain values.

An engine is built once from rows and maps weights of their units (b, units) to values (b,). The weights are counts of
draws (bootstrap), zeros and ones that choose between two metrics (permutation), or ones (the plain value).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import kendalltau

from rlsum.evaluation import ranking
from rlsum.evaluation.coefficients import COEFFICIENTS, Coefficient
from rlsum.evaluation.rows import Floats, Ints, Rows, check_option
from rlsum.evaluation.statistics import row_blocks

Engine = Callable[[Floats], Floats]
Statistic = Literal["pearson", "spearman", "kendall", "acc-t", "spa"]
Level = Literal["pooled", "input", "system"]

FLAT = 1e-12  # a variance below this share of the mean square is rounding
LONG = 8_000  # above this many rows, all pairs do not fit in memory and resamples are correlated one by one
PAIRS = 100_000  # pairs that pooled acc-t samples for its interval: exact to within .002


def engine(rows: Rows, statistic: Statistic, level: Level) -> Engine:
    """From weights (b, units) to values (b,) of a statistic at a level, NaN if undefined. Raises as `check` does."""
    check(statistic, level)
    if statistic == "spa":
        parts = ranking.differences(rows)
        return _in_blocks(lambda weights: ranking.soft_accuracy_limit(*parts, weights), rows.systems**2)
    if level == "system":
        coefficient = ranking.accuracy_rows if statistic == "acc-t" else COEFFICIENTS[statistic]
        return _in_blocks(_system_means(rows, coefficient), rows.systems**2)
    if statistic == "acc-t":
        pairs = ranking.pairs_within(rows) if level == "input" else ranking.pairs_of(rows, PAIRS)
        return _in_blocks(lambda weights: ranking.calibrated(pairs, weights)[0], len(pairs))
    if level == "input":
        return _mean_of_units(by_unit(rows, COEFFICIENTS[statistic]))
    return _in_blocks(POOLED[statistic](rows), len(rows))


def check(statistic: str, level: str) -> None:
    """Raise ValueError for an unknown statistic or level, or an impossible combination."""
    check_option("statistic", statistic, Statistic)
    check_option("level", level, Level)
    if statistic == "spa" and level != "system":
        raise ValueError(f"statistic='spa' compares systems; use level='system' in place of {level!r}")


def by_unit(rows: Rows, coefficient: Coefficient) -> Floats:
    """The coefficient within each unit (units,); NaN if undefined."""
    values = np.full(rows.units, np.nan)
    for units, members in matrices(rows):
        values[units] = coefficient(rows.human[members], rows.metric[members])
    return values


def matrices(rows: Rows) -> Iterator[tuple[Ints, Ints]]:
    """Units (u,) with equally many rows, more than one, and these rows (u, size)."""
    order = np.argsort(rows.unit, kind="stable")
    units, starts, sizes = np.unique(rows.unit[order], return_index=True, return_counts=True)
    for size in set(sizes[sizes > 1].tolist()):
        equal = sizes == size
        yield units[equal], order[starts[equal][:, None] + np.arange(size)]


def _in_blocks(value: Engine, width: int) -> Engine:
    """The same engine, called on blocks of resamples so that ``width`` numbers per resample fit a processor's cache."""

    def blocked(weights: Floats) -> Floats:
        ends = np.cumsum(list(row_blocks(len(weights), width)))
        return np.concatenate([value(block) for block in np.split(weights, ends[:-1])])

    return blocked


def _mean_of_units(values: Floats) -> Engine:
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)

    def mean(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return (weights @ filled) / (weights @ defined)

    return mean


def _system_means(rows: Rows, coefficient: Coefficient) -> Engine:
    """The means of each system over its rows, then the coefficient over the systems that have rows."""
    systems, system = np.unique(rows.system, return_inverse=True)
    shape = (rows.units, len(systems))
    cell = rows.unit * len(systems) + system
    counts, human, metric = (
        np.bincount(cell, weights=column, minlength=shape[0] * shape[1]).reshape(shape)
        for column in (None, rows.human, rows.metric)
    )

    def correlate(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            number = weights @ counts
            return coefficient((weights @ human) / number, (weights @ metric) / number)

    return correlate


def _pooled_pearson(rows: Rows) -> Engine:
    x, y = _standard(rows.human), _standard(rows.metric)
    columns = (np.ones(len(rows)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(rows.unit, weights=column, minlength=rows.units) for column in columns], axis=1)

    def correlate(weights: Floats) -> Floats:
        n, x, y, xx, yy, xy = (weights @ sums).T
        return _ratio(n * xy - x * y, n * xx - x * x, n * yy - y * y, FLAT * n * xx, FLAT * n * yy)

    return correlate


def _pooled_spearman(rows: Rows) -> Engine:
    human, metric = _Ranks(rows.human), _Ranks(rows.metric)

    def correlate(weights: Floats) -> Floats:
        weight = weights[:, rows.unit]
        (x, xx), (y, yy) = human.centred(weight), metric.centred(weight)
        return _ratio(np.einsum("bn,bn,bn->b", weight, x, y), xx, yy, 0.0, 0.0)

    return correlate


class _Ranks:
    """Weighted ranks of fixed values (n,), which are sorted once."""

    def __init__(self, values: Floats) -> None:
        distinct, self.code = np.unique(values, return_inverse=True)
        self.order = np.argsort(self.code, kind="stable")
        self.starts = np.searchsorted(self.code[self.order], np.arange(len(distinct)))

    def centred(self, weight: Floats) -> tuple[Floats, Floats]:
        """Mean ranks less their mean (b, n), and their weighted sum of squares (b,), under ``weight`` (b, n)."""
        mass = np.add.reduceat(weight[:, self.order], self.starts, axis=1)
        ranks = np.cumsum(mass, axis=1)
        ranks -= (mass + ranks[:, -1:]) / 2
        return ranks[:, self.code], np.einsum("bv,bv,bv->b", mass, ranks, ranks)


def _pooled_kendall(rows: Rows) -> Engine:
    """Sums of concordance and of untied pairs between units, so that a resample is three quadratic forms."""
    if len(rows) > LONG:
        return _kendall_one_by_one(rows)
    members = csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows.unit)), shape=(len(rows), rows.units))
    forms = [np.zeros((rows.units, rows.units)) for _ in range(3)]
    start = 0
    for size in row_blocks(len(rows), len(rows)):
        block = slice(start, start + size)
        dx = np.sign(rows.human[block, None] - rows.human)
        dy = np.sign(rows.metric[block, None] - rows.metric)
        for form, product in zip(forms, (dx * dy, dx * dx, dy * dy), strict=True):
            form += members[block].T @ (product @ members)
        start += size

    def correlate(weights: Floats) -> Floats:
        both, x, y = (np.einsum("bu,bu->b", weights @ form, weights) for form in forms)
        return _ratio(both, x, y, 0.0, 0.0)

    return correlate


def _kendall_one_by_one(rows: Rows) -> Engine:
    def correlate(weights: Floats) -> Floats:
        times = weights.astype(np.int64)[:, rows.unit]
        drawn = (np.repeat(np.arange(len(rows)), time) for time in times)
        return np.array([kendalltau(rows.human[take], rows.metric[take]).statistic for take in drawn])

    return correlate


def _standard(values: Floats) -> Floats:
    """Values with mean 0 and deviation 1, for precise sums of squares. Constant values become 0."""
    largest = np.abs(values).max(initial=0.0)
    if not largest:
        return values
    centred = values / largest  # squares of huge and tiny scores stay in range
    centred -= centred.mean()
    spread = centred.std()
    return centred / spread if spread > FLAT else np.zeros_like(values)


def _ratio(both: Floats, x: Floats, y: Floats, flat_x: Floats | float, flat_y: Floats | float) -> Floats:
    """both / sqrt(x y), NaN where a variance is zero up to rounding."""
    defined = (x > flat_x) & (y > flat_y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, np.clip(both / np.sqrt(np.where(defined, x * y, 1.0)), -1, 1), np.nan)


POOLED: dict[str, Callable[[Rows], Engine]] = {
    "pearson": _pooled_pearson,
    "spearman": _pooled_spearman,
    "kendall": _pooled_kendall,
}
