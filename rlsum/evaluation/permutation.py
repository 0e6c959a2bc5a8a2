"""Permutation tests between two metrics (Deutsch, Dror and Roth 2021): their scores are swapped on random units.

Under the null hypothesis the two metrics of a unit are exchangeable once they are standardised, or ranked for rank
correlations. A unit is a row (PERM-BOTH) or, as rows of one input are dependent, a whole input (PERM-INPUT).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from rlsum.evaluation.coefficients.statistic import Engine, Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.rows import Floats, Ints, Rows
from rlsum.evaluation.statistics import row_blocks


class Swapped(NamedTuple):
    """The observed difference, that of each swap (r,), the number of units; NaN with a ``reason``."""

    difference: float
    swaps: Floats
    units: int
    reason: str = ""


def swapped_differences(
    first: Rows, second: Rows, statistic: str, level: Level, *, resamples: int, seed: int = 0, exact: bool = True
) -> Swapped:
    """Swap the scores of two metrics on random units of the same rows, from `paired_rows`.

    If there are at most ``resamples`` patterns of swaps besides the observed one, all are tried and p is exact;
    ``exact=False`` always draws ``resamples`` random swaps. Pooled Spearman swaps ranks over all rows without ranking
    again, which changes neither the observed difference nor the level of the test.
    """
    nan, none = float("nan"), np.empty(0)
    if level == "input":
        first, second = defined_in_both(first, second, statistic)
    taken = np.unique(first.unit)
    if not len(taken):
        return Swapped(nan, none, 0, "no input has both metrics defined with scores that vary")
    stat = named(statistic)
    if level == "pooled" and stat.of_ranks:
        value = stat.of_ranks(_doubled(_ranked(first), _ranked(second)))
    else:
        value = stat.engine(_doubled(first, second, stat.scaled), level)
    difference = float(_difference(value, np.zeros((1, first.units)))[0])
    if np.isnan(difference):
        return Swapped(nan, none, len(taken), "the scores of people or of a metric are constant at this level")
    blocks = _swaps(taken, first.units, resamples, seed, exact)
    return Swapped(difference, np.concatenate([_difference(value, swaps) for swaps in blocks]), len(taken))


def p_values(difference: float, swaps: Floats) -> tuple[float, float]:
    """Two-tailed p and one-tailed p of the first metric being better; NaN without an observed difference.

    ``p = (c + 1) / (R + 1)``, ``c`` of ``R`` swaps at least as extreme as the observed ``difference``, or undefined.
    """
    if np.isnan(difference):
        return difference, difference
    near = 1e-9 * max(1.0, abs(difference))  # sums in another order differ by rounding
    undefined = np.isnan(swaps)
    extreme = int((undefined | (np.abs(swaps) >= abs(difference) - near)).sum())
    greater = int((undefined | (swaps >= difference - near)).sum())
    total = len(swaps) + 1
    return (extreme + 1) / total, (greater + 1) / total


def defined_in_both(first: Rows, second: Rows, statistic: str) -> tuple[Rows, Rows]:
    """The rows of the inputs where the statistic is defined for both metrics; all, of one over all inputs at once."""
    stat = named(statistic)
    if "input" in stat.engines:
        return first, second
    kept = ~np.isnan(stat.by_unit(first) + stat.by_unit(second))[first.unit]
    return first.where(kept), second.where(kept)


def _ranked(rows: Rows) -> Rows:
    return replace(rows, human=rankdata(rows.human), metric=rankdata(rows.metric))


def _doubled(first: Rows, second: Rows, scaled: bool = True) -> Rows:
    """The rows of both metrics, ``scaled`` alike, concatenated: units u and u + units are the same input."""
    metrics = [
        (scores - scores.mean()) / scores.std() if scaled else scores for scores in (first.metric, second.metric)
    ]
    return Rows(
        human=np.concatenate([first.human, second.human]),
        metric=np.concatenate(metrics),
        unit=np.concatenate([first.unit, first.unit + first.units]),
        units=2 * first.units,
        system=np.concatenate([first.system, second.system]),
        systems=first.systems,
        judged=2 * len(first),
    )


def _difference(statistic: Engine, swaps: Floats) -> Floats:
    """The statistic of the first metric less that of the second (b,) where ``swaps`` (b, units) of 1 swap the two."""
    stay = 1 - swaps
    return statistic(np.concatenate([stay, swaps], axis=1)) - statistic(np.concatenate([swaps, stay], axis=1))


def _swaps(taken: Ints, units: int, resamples: int, seed: int, exact: bool) -> Iterator[Floats]:
    """Blocks (b, units) of 0 and 1 on the units ``taken``: every pattern but the observed one, or random ones."""
    few = exact and len(taken) < 63 and 2 ** len(taken) - 1 <= resamples
    generator = np.random.default_rng(seed)
    done = 0
    for rows in row_blocks(2 ** len(taken) - 1 if few else resamples, 2 * units):
        swaps = np.zeros((rows, units))
        if few:
            patterns = np.arange(done + 1, done + rows + 1)  # without pattern 0, which swaps nothing
            swaps[:, taken] = (patterns[:, None] >> np.arange(len(taken))) & 1
        else:
            swaps[:, taken] = generator.integers(0, 2, size=(rows, len(taken)), dtype=np.int8)
        done += rows
        yield swaps
