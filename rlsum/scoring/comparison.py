"""Means of systems with intervals, and tests of differences on the items that two systems share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlsum.evaluation.statistics import LEVEL, MANY, RESAMPLES, Interval, mean_interval, paired_difference, with_holm
from rlsum.scoring.outputs import Floats, SystemScores


@dataclass(frozen=True)
class Resampling:
    """Settings of intervals and tests: confidence level (0 to 1), number of resamples, seed."""

    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0

    @property
    def note(self) -> str:
        """What a table of means says of its intervals."""
        drawn = f"studentised bootstrap, {self.resamples:,} resamples, seed {self.seed}"
        return f"beneath each mean its {self.level:.0%} interval ({drawn}; from {MANY:,} scores on normal)"

    def interval(self, values: Floats) -> Interval:
        """The interval of the mean of ``values`` (n,)."""
        return mean_interval(values, level=self.level, resamples=self.resamples, seed=self.seed)

    def difference(self, a: Floats, b: Floats) -> tuple[Interval, float]:
        """The mean of ``a - b``, both (n,), with its interval, and its two-sided permutation p-value."""
        return paired_difference(a, b, level=self.level, resamples=self.resamples, seed=self.seed)


@dataclass(frozen=True)
class Comparison:
    """``system`` minus ``baseline`` (another system) on one metric, over the items on which both are defined.

    ``p_holm`` is ``p`` adjusted for all comparisons of the family. ``shared`` counts items with an output from both,
    ``unpaired`` those with an output from only one of them.
    """

    system: str
    baseline: str
    metric: str
    interval: Interval
    p: float
    shared: int
    unpaired: int
    p_holm: float = float("nan")


def intervals(columns: dict[str, Floats], resampling: Resampling) -> dict[str, Interval]:
    """The mean and interval of every column of scores (n,)."""
    return {name: resampling.interval(values) for name, values in columns.items()}


def compare(system: SystemScores, baseline: SystemScores, metric: str, resampling: Resampling) -> Comparison:
    """Compare two systems on one metric, paired by id. NaN difference and p where they share no defined item."""
    index = {item: row for row, item in enumerate(baseline.ids)}
    pairs = [(row, index[item]) for row, item in enumerate(system.ids) if item in index]
    unpaired = len(system.ids) + len(baseline.ids) - 2 * len(pairs)
    if not pairs:
        undefined = Interval(np.nan, np.nan, np.nan, 0)
        return Comparison(system.system, baseline.system, metric, undefined, np.nan, 0, unpaired)
    rows, others = (list(column) for column in zip(*pairs, strict=True))
    difference = resampling.difference(system.metrics[metric][rows], baseline.metrics[metric][others])
    return Comparison(system.system, baseline.system, metric, *difference, len(pairs), unpaired)


def compare_all(systems: Sequence[SystemScores], baseline: SystemScores, resampling: Resampling) -> list[Comparison]:
    """Every other system against ``baseline`` on every metric that both have, Holm-adjusted as one family."""
    return with_holm(
        compare(system, baseline, metric, resampling)
        for system in systems
        if system is not baseline
        for metric in system.metrics
        if metric in baseline.metrics
    )
