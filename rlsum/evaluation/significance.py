"""Is one metric really closer to people than another? The test that fits the data, and Holm over a matrix of them.

Both metrics are compared against the same human scores, only on the rows where both are defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rlsum.evaluation.correlation import needed, why_undefined
from rlsum.evaluation.permutation import permutation_test
from rlsum.evaluation.rows import Ids, Rows, constant, paired_rows
from rlsum.evaluation.statistics import RESAMPLES, holm
from rlsum.evaluation.weighted import Level, Statistic, check
from rlsum.evaluation.williams import correlations, far_from_normal, williams_on

Test = Literal["williams", "permutation", "clustered permutation"]
Asked = Literal["auto", "williams", "permutation", "clustered permutation"]

REPEATED = "inputs repeat, so rows are not independent: too many differences come out significant"
UNLIKE = "one metric is skewed or heavy-tailed and the other is not, so they cannot quite change places; ranks can"
RANKED = "Williams' test is for Pearson's r; on rank correlations it rejects somewhat too often"


@dataclass(frozen=True)
class MetricTest:
    """Metric ``a`` against metric ``b`` on the ``n`` rows where both are defined.

    ``difference`` is the statistic of a less that of b. ``p`` is two-tailed, ``p_greater`` one-tailed for a being the
    better, ``p_holm`` the two-tailed one adjusted for all that were asked together. ``units`` is what was swapped or
    counted as independent. NaN where undefined, and then ``reason`` says why. ``why`` tells why this test was made and
    ``warnings`` what speaks against believing it.
    """

    a: str
    b: str
    test: Test
    statistic: Statistic
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


def compare_metrics(
    human: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    names: tuple[str, str] = ("a", "b"),
    statistic: Statistic = "spearman",
    level: Level = "pooled",
    inputs: Ids | None = None,
    systems: Ids | None = None,
    test: Asked = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MetricTest:
    """Test whether ``a`` (n,) agrees with ``human`` (n,) better than ``b`` (n,) does; all higher = better.

    ``test="auto"`` takes what `default_test` says. Permutation p-values are ``(c + 1) / (R + 1)``, seeded; where the
    units are so few that ``resamples`` covers all their swaps, every swap is tried and p is exact.
    Raises ValueError for unknown options or a test that a level does not have.
    """
    check(statistic, level)
    needed(level, inputs, systems)
    if test not in get_args(Asked):
        raise ValueError(f"test={test!r} is unknown; use one of {', '.join(get_args(Asked))}")
    if resamples < 1:
        raise ValueError(f"resamples={resamples} must be at least 1; {RESAMPLES:,} is usual")
    first, second = paired_rows(human, a, b, inputs, systems)
    chosen, why = default_test(first, second, statistic, level) if test == "auto" else (test, "asked for")
    nan = float("nan")
    found = MetricTest(names[0], names[1], chosen, statistic, level, nan, nan, nan, len(first), 0, why)
    if reason := _undefined(first, second, statistic, level):
        return replace(found, reason=reason)
    if chosen == "williams":
        return _by_williams(found, first, second)
    return _by_permutation(found, first, second, resamples, seed)


def compare_all_metrics(
    human: ArrayLike,
    metrics: Mapping[str, ArrayLike],
    *,
    statistic: Statistic = "spearman",
    level: Level = "pooled",
    inputs: Ids | None = None,
    systems: Ids | None = None,
    test: Asked = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[MetricTest]:
    """`compare_metrics` on every pair of ``metrics`` (name -> (n,)), with ``p_holm`` for all of them as one family."""
    tests = [
        compare_metrics(
            human,
            metrics[a],
            metrics[b],
            names=(a, b),
            statistic=statistic,
            level=level,
            inputs=inputs,
            systems=systems,
            test=test,
            resamples=resamples,
            seed=seed,
        )
        for a, b in combinations(metrics, 2)
    ]
    return [replace(found, p_holm=float(p)) for found, p in zip(tests, holm([each.p for each in tests]), strict=True)]


def default_test(first: Rows, second: Rows, statistic: Statistic, level: Level) -> tuple[Test, str]:
    """The test to make on these rows, and why."""
    if level != "pooled":
        return "clustered permutation", f"at level {level} inputs are the independent units"
    if first.repeated:
        return "clustered permutation", "inputs repeat, so whole inputs are swapped"
    if statistic != "pearson":
        return "permutation", "no input repeats; Williams' test is for Pearson's r only"
    if skewed := _skewed(first, second):
        return "permutation", f"no input repeats, but Williams' test needs normal scores ({skewed})"
    return "williams", "no input repeats and no scores are far from normal"


def _by_williams(found: MetricTest, first: Rows, second: Rows) -> MetricTest:
    if found.level != "pooled":
        raise ValueError(f"test='williams' compares rows; for level={found.level!r} use test='clustered permutation'")
    result = williams_on(first, second, found.statistic)
    with_a, with_b, _ = correlations(first, second, found.statistic)
    return replace(
        found,
        difference=with_a - with_b,
        p=result.p,
        p_greater=result.p_greater,
        units=len(first),
        warnings=_doubts(first, second, found.statistic),
        reason=result.reason,
    )


def _by_permutation(found: MetricTest, first: Rows, second: Rows, resamples: int, seed: int) -> MetricTest:
    warnings: tuple[str, ...] = ()
    if found.statistic == "pearson" and far_from_normal(first.metric) != far_from_normal(second.metric):
        warnings = (UNLIKE,)
    if found.test == "permutation":
        if found.level == "input":
            raise ValueError("test='permutation' swaps rows; for level='input' use test='clustered permutation'")
        warnings += (REPEATED,) if first.repeated else ()
        first, second = first.apart(), second.apart()
    result = permutation_test(first, second, found.statistic, found.level, resamples=resamples, seed=seed)
    return replace(found, warnings=warnings, **result._asdict())


def _doubts(first: Rows, second: Rows, statistic: Statistic) -> tuple[str, ...]:
    skewed = _skewed(first, second)
    return tuple(
        text
        for text, holds in (
            (REPEATED, first.repeated),
            (RANKED, statistic != "pearson"),
            (f"Williams' test rejects too often where scores are {skewed}", statistic == "pearson" and skewed),
        )
        if holds
    )


def _skewed(first: Rows, second: Rows) -> str:
    """Which scores are too far from normal, in words; empty where none are."""
    columns = {"human scores": first.human, "the first metric": first.metric, "the second metric": second.metric}
    far = [name for name, values in columns.items() if far_from_normal(values)]
    return f"skewed or heavy-tailed: {', '.join(far)}" if far else ""


def _undefined(first: Rows, second: Rows, statistic: Statistic, level: Level) -> str:
    if (statistic, level) == ("acc-t", "pooled"):
        return "acc-t has no test over all rows; compare metrics at level='input'"
    if constant(first.human) and len(first):
        return "the human scores are constant"
    if len(first) and (constant(first.metric) or constant(second.metric)):
        return "the scores of one of the metrics are constant"
    over = len(np.unique(first.system)) if level == "system" else len(first)
    if not first.judged or len(first):
        return why_undefined(first, level, over)
    return "no judged row has both metrics defined"
