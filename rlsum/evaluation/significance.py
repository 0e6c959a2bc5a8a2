"""Tests of whether one metric agrees with people better than another, on the rows where both are defined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kurtosis, skew
from scipy.stats import t as student

from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import needed, why_undefined
from rlsum.evaluation.permutation import defined_in_both, p_values, swapped_differences
from rlsum.evaluation.population import MEANING, Spread, estimated_difference, sizes, system_means, t_test, why_not
from rlsum.evaluation.rows import Floats, Ids, Rows, check_option, constant, paired_rows
from rlsum.evaluation.statistics import RESAMPLES, Random, TestOption

Test = Literal["williams", "permutation", "clustered permutation", "clustered t"]

REPEATED = "inputs repeat, so rows are not independent and the test rejects too often"
UNLIKE = (
    "only one metric is skewed or heavy-tailed, so their scores are not quite exchangeable; ranks are: use spearman or "
    "kendall"
)
SYSTEMS = (
    "swaps of inputs at level system reject too often where metrics rate these systems differently: 13 to 20% at 5%"
)
RANKED = "Williams' test is for Pearson's r; on rank correlations it rejects somewhat too often"
REQUESTED = "requested"  # why a test is made that the user named
SKEWED = 1.0  # skewness above which the level of Williams' test is unreliable
HEAVY = 3.0  # excess kurtosis above which it is


@dataclass(frozen=True)
class MetricTest:
    """Metric ``a`` against metric ``b`` on the ``n`` rows where both are defined.

    ``difference`` is the statistic of a less that of b. ``p`` is two-tailed, ``p_greater`` one-tailed for a being
    better, ``p_holm`` the two-tailed p adjusted for all tests made together, NaN before that. ``units`` is the number
    of units swapped or taken as independent. NaN if undefined, for the ``reason`` given. ``why`` explains the choice of
    the test and ``warnings`` name violated assumptions.
    """

    a: str
    b: str
    test: Test
    statistic: str
    level: Level
    difference: float
    p: float
    p_greater: float
    n: int
    units: int
    why: str
    warnings: tuple[str, ...] = ()
    reason: str = ""
    p_holm: float = float("nan")


def compare_all_metrics(
    human: ArrayLike,
    metrics: Mapping[str, ArrayLike],
    *,
    statistic: str = "spearman",
    level: Level = "pooled",
    inputs: Ids | None = None,
    systems: Ids | None = None,
    random: Random = "inputs",
    test: TestOption = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[MetricTest]:
    """Test for every pair of ``metrics`` (name -> (n,)) whether one agrees better with ``human`` (n,).

    All scores are higher = better, NaN = undefined. ``test="auto"`` chooses by `default_test`. Permutation p-values are
    ``(c + 1) / (R + 1)``, seeded; if ``resamples`` covers all swaps of the units, all are tried and p is exact.
    ``random`` systems or both: the difference among systems to come, by Williams' test or a permutation of their means
    (level system) or by a t test clustered by both (`rlsum.evaluation.population`). Raises ValueError for unknown
    options and for a test that the level or the population does not have.
    """
    named(statistic).check(level)
    needed(level, inputs, systems, random)
    check_option("test", test, TestOption)
    if resamples < 1:
        raise ValueError(f"resamples={resamples} must be at least 1; {RESAMPLES:,} is usual")
    if random != "inputs" and test != "auto":
        raise ValueError(f"test={test!r} takes the systems as given; use random='inputs', or test='auto'")
    tests, nan = [], float("nan")
    for a, b in combinations(metrics, 2):
        first, second = paired_rows(human, metrics[a], metrics[b], inputs, systems)
        chosen, why = (test, REQUESTED) if test != "auto" else default_test(first, second, statistic, level, random)
        untested = MetricTest(a, b, chosen, statistic, level, nan, nan, nan, len(first), 0, why)
        if level == "input":
            first, second = defined_in_both(first, second, statistic)
        tests.append(_tested(untested, first, second, random, resamples, seed))
    return tests


def _tested(test: MetricTest, first: Rows, second: Rows, random: Random, resamples: int, seed: int) -> MetricTest:
    """A test with its result, or with the reason why it has none."""
    statistic, level = test.statistic, test.level
    if reason := _undefined(first, second, statistic, level):
        return replace(test, reason=reason)
    systems, units = sizes(first.unit, first.system, level)
    of_clusters = level == "system" or named(statistic).influence is not None
    calibrated = random != "inputs" or (test.why != REQUESTED and of_clusters)
    if calibrated and (reason := why_not(statistic, level, systems, units, random, test=True)):
        return replace(test, units=units if random == "inputs" else systems, reason=f"no test: {reason}")
    if test.test == "clustered t":
        return _by_t(test, first, second, random)
    if random != "inputs":
        return _over_systems(test, first, second, resamples, seed)
    if test.test == "williams":
        return _by_williams(test, first, second)
    return _by_permutation(test, first, second, resamples, seed)


def default_test(first: Rows, second: Rows, statistic: str, level: Level, random: Random) -> tuple[Test, str]:
    """The test that suits these rows and the population, and why."""
    stat = named(statistic)
    if random != "inputs" and level == "system":
        if stat.normal:
            return "williams", f"systems are the independent units; for {MEANING[random]}"
        return "clustered permutation", f"whole systems are swapped; for {MEANING[random]}"
    if random != "inputs":
        return "clustered t", f"a t test clustered by systems and by inputs; for {MEANING[random]}"
    if stat.influence is None:
        return "clustered permutation", f"whole inputs are swapped; {statistic} has no t test"
    if stat.normal and level == "pooled":
        skewed = _skewed(first, second)
        if skewed and first.repeated:
            return "clustered permutation", f"whole inputs are swapped, as a t test needs normal scores ({skewed})"
        if skewed:
            return "permutation", f"no input repeats, but Williams' test needs normal scores ({skewed})"
        if not first.repeated:
            return "williams", "no input repeats and no scores are far from normal"
    return "clustered t", "inputs are the independent units"


def _over_systems(result: MetricTest, first: Rows, second: Rows, resamples: int, seed: int) -> MetricTest:
    means = system_means(first), system_means(second)  # each system is one row, and one unit
    if result.test != "williams":
        return _by_permutation(result, *means, resamples, seed)
    return replace(_by_williams(replace(result, level="pooled"), *means), level="system")


def _by_t(result: MetricTest, first: Rows, second: Rows, random: Random) -> MetricTest:
    units = len(np.unique(first.unit if random == "inputs" else first.system))
    difference = estimated_difference(first, second, result.statistic, result.level, random)
    return replace(with_t(result, difference), units=units)


def with_t(test: MetricTest, difference: Spread) -> MetricTest:
    """The t test of a difference: its result, or why it has none."""
    p, p_greater = t_test(difference)
    reason = "no test: the estimated variance of the difference is not positive" if np.isnan(p) else ""
    return replace(test, difference=difference.value, p=p, p_greater=p_greater, reason=reason)


def _by_williams(result: MetricTest, first: Rows, second: Rows) -> MetricTest:
    statistic = result.statistic
    if result.level != "pooled":
        raise ValueError(f"test='williams' compares rows; for level={result.level!r} use test='clustered permutation'")
    _, p_greater, p, reason = williams_test(first, second, statistic)
    with_a, with_b, _ = correlations(first, second, statistic)
    warnings: tuple[str, ...] = (REPEATED,) if first.repeated else ()
    if not named(statistic).normal:
        warnings += (RANKED,)
    elif skewed := _skewed(first, second):
        warnings += (f"Williams' test rejects too often where scores are {skewed}",)
    tested = replace(result, difference=with_a - with_b, p=p, p_greater=p_greater, units=len(first))
    return replace(tested, warnings=warnings, reason=reason)


def _by_permutation(result: MetricTest, first: Rows, second: Rows, resamples: int, seed: int) -> MetricTest:
    warnings: tuple[str, ...] = ()
    if named(result.statistic).normal and far_from_normal(first.metric) != far_from_normal(second.metric):
        warnings = (UNLIKE,)
    if result.level == "system" and result.why == REQUESTED:
        warnings += (SYSTEMS,)
    if result.test == "permutation":
        if result.level == "input":
            raise ValueError("test='permutation' swaps rows; for level='input' use test='clustered permutation'")
        warnings += (REPEATED,) if first.repeated else ()
        first, second = first.apart(), second.apart()
    swapped = swapped_differences(first, second, result.statistic, result.level, resamples=resamples, seed=seed)
    p, p_greater = p_values(swapped.difference, swapped.swaps)
    difference, _, units, reason = swapped
    return replace(
        result, difference=difference, p=p, p_greater=p_greater, units=units, warnings=warnings, reason=reason
    )


def _skewed(first: Rows, second: Rows) -> str:
    """The scores that are too far from normal, in words; "" if none is."""
    columns = {"human scores": first.human, "the first metric": first.metric, "the second metric": second.metric}
    skewed = [name for name, values in columns.items() if far_from_normal(values)]
    return f"skewed or heavy-tailed: {', '.join(skewed)}" if skewed else ""


def _undefined(first: Rows, second: Rows, statistic: str, level: Level) -> str:
    if level in named(statistic).untested:
        return f"{statistic} has no test over all rows; compare metrics at level='input'"
    if first.judged and not len(first):
        if level == "input":
            return "no input has two rows on which the scores of people and of both metrics vary"
        return "no judged row has both metrics defined"
    if len(first) and constant(first.human):
        return "the human scores are constant"
    if len(first) and (constant(first.metric) or constant(second.metric)):
        return "the scores of one of the metrics are constant"
    return why_undefined(first, level, len(np.unique(first.system)) if level == "system" else len(first))


# ---- Williams' test: independent items, normal scores ------------------------------------------------------------


class Williams(NamedTuple):
    """t and its p-values: one-tailed for the first metric being better, and two-tailed; NaN with a reason."""

    t: float
    p_greater: float
    p: float
    reason: str = ""


def williams(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: int) -> tuple[Floats, Floats]:
    """Williams' t (...) and its one-tailed p (...) that r12 exceeds r13, for n independent items; df = n - 3.

    ``r12`` and ``r13`` (...) are the correlations of the two metrics with people, ``r23`` theirs with each other
    (Graham and Baldwin 2014, after Williams 1959). Signs matter: metrics must point the same way as the human scores.
    NaN for n <= 3 and for a denominator of 0.
    """
    r12, r13, r23 = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    if n <= 3:
        nothing = np.full(np.broadcast_shapes(r12.shape, r13.shape, r23.shape), np.nan)
        return nothing, nothing
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / np.sqrt(np.where(below > 1e-12, below, np.nan))
    return t, student.sf(t, n - 3)


def williams_test(first: Rows, second: Rows, statistic: str) -> Williams:
    """Williams' test that the first metric agrees with people more than the second, on rows from `paired_rows`.

    ``statistic``: pearson, for which the test was derived, or spearman, as in Clark et al. (2019).
    Raises ValueError for another statistic.
    """
    nan = float("nan")
    if not named(statistic).williams:
        raise ValueError(f"statistic={statistic!r} has no Williams' test; use pearson, spearman or a permutation")
    if len(first) <= 3:
        return Williams(nan, nan, nan, f"{len(first)} rows have both metrics; Williams' test needs more than 3")
    if any(constant(values) for values in (first.human, first.metric, second.metric)):
        return Williams(nan, nan, nan, "the human scores or those of a metric are constant")
    t, p = williams(*correlations(first, second, statistic), len(first))
    if np.isnan(t):
        return Williams(nan, nan, nan, "the denominator of Williams' t is 0: the metrics give the same scores")
    return Williams(float(t), float(p), float(2 * student.sf(abs(t), len(first) - 3)))


def correlations(first: Rows, second: Rows, statistic: str) -> tuple[float, float, float]:
    """r of people and the first metric, of people and the second, and of the two metrics."""
    coefficient = named(statistic).of
    pairs = ((first.human, first.metric), (second.human, second.metric), (first.metric, second.metric))
    r12, r13, r23 = (float(coefficient(x, y)) for x, y in pairs)
    return r12, r13, r23


def far_from_normal(values: Floats) -> bool:
    """Whether ``values`` (n,) are so skewed or heavy-tailed that the level of the test is unreliable."""
    return not constant(values) and (abs(float(skew(values))) > SKEWED or float(kurtosis(values)) > HEAVY)
