"""Means of systems with intervals, and tests of differences on the items that two systems share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rewards.documentation import stated_range
from rlsum.errors import UserError, option
from rlsum.evaluation.statistics import MANY, Interval, Uncertainty, mean_interval, paired_difference, with_holm
from rlsum.scoring.outputs import Floats, SystemScores
from rlsum.scoring.properties import PROPERTIES

ANY = (-np.inf, np.inf)

OF_CORPUS = " of the corpus"  # after the name of a metric: its value of all outputs together


class Resampling(Uncertainty):
    """Settings of intervals and tests: their level, number of resamples, seed. Raises UserError without resamples."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.resamples:
            raise UserError(f"{option('resamples', self.resamples)}: must be 1 or more; 10000 is usual")

    @property
    def alpha(self) -> float:
        """The level of tests, to which p-values are compared: 0.05, not 0.05000000000000004."""
        return round(1 - self.level, 12)

    @property
    def note(self) -> str:
        """What a table of means says of its intervals."""
        drawn = f"studentised bootstrap, {self.resamples:,} resamples, seed {self.seed}"
        return f"beneath each mean its {self.level:.0%} interval ({drawn}; from {MANY:,} scores on normal)"

    def interval(self, values: Floats, span: tuple[float, float] = ANY) -> Interval:
        """The interval of the mean of ``values`` (n,), cut to ``span``: that of few may leave what a score can be."""
        mean = mean_interval(values, self)
        low, high = np.clip(mean[1:3], *span).tolist()
        return mean._replace(low=low, high=high)


@dataclass(frozen=True)
class PairedDifference:
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


def intervals(
    columns: Mapping[str, Floats], resampling: Resampling, signatures: Mapping[str, str] | None = None
) -> dict[str, Interval]:
    """The mean and interval of every column of scores (n,), within what the metric of a signature, or the property,
    can be.
    """
    spans = {name: measure.range for name, measure in PROPERTIES.items()}
    spans |= {name: stated_range(text.partition("|")[0]) for name, text in (signatures or {}).items()}
    return {name: resampling.interval(values, spans.get(name, ANY)) for name, values in columns.items()}


def compare(system: SystemScores, baseline: SystemScores, metric: str, resampling: Resampling) -> PairedDifference:
    """Compare two systems on one metric, paired by id. NaN difference and p where they share no defined item."""
    rows, baseline_rows, unpaired = _paired(system, baseline)
    difference: tuple[Interval, float] = Interval(np.nan, np.nan, np.nan, 0), np.nan
    if rows:
        scores, others = system.metrics[metric][rows], baseline.metrics[metric][baseline_rows]
        difference = paired_difference(scores, others, resampling)
    return PairedDifference(system.system, baseline.system, metric, *difference, len(rows), unpaired)


def compare_corpora(
    system: SystemScores, baseline: SystemScores, metric: str, resampling: Resampling
) -> PairedDifference | None:
    """Compare the values of two whole corpora on the articles that both have a score of; None where there are none.

    The test swaps the outputs of random articles (Riezler and Maxwell 2005): a value of all texts has no mean of
    articles. It has no interval.
    """
    shared, baseline_shared, unpaired = _paired(system, baseline)
    scored = ~np.isnan(system.metrics[metric][shared] + baseline.metrics[metric][baseline_shared])
    rows, baseline_rows = (np.array(places, np.intp)[scored] for places in (shared, baseline_shared))
    if not len(rows):
        return None
    (counts, value), (baseline_counts, _) = system.counts[metric], baseline.counts[metric]
    paired, baseline_paired = counts[rows], baseline_counts[baseline_rows]
    difference = value(paired.sum(axis=0)) - value(baseline_paired.sum(axis=0))
    moved = np.random.default_rng(resampling.seed).random((resampling.resamples, len(paired))) < 0.5
    changes = moved @ (baseline_paired - paired)  # (resamples, counts)
    swapped = [value(paired.sum(axis=0) + change) - value(baseline_paired.sum(axis=0) - change) for change in changes]
    extreme = int((np.abs(swapped) >= abs(difference) - 1e-12).sum())
    p = (extreme + 1) / (len(swapped) + 1)
    interval = Interval(difference, np.nan, np.nan, len(rows))
    return PairedDifference(system.system, baseline.system, f"{metric}{OF_CORPUS}", interval, p, len(shared), unpaired)


def _paired(system: SystemScores, baseline: SystemScores) -> tuple[list[int], list[int], int]:
    """The rows of both systems with the same ids, and how many ids only one of them has."""
    index = {item: row for row, item in enumerate(baseline.ids)}
    rows = [row for row, item in enumerate(system.ids) if item in index]
    return rows, [index[system.ids[row]] for row in rows], len(system.ids) + len(baseline.ids) - 2 * len(rows)


def compare_all(
    systems: Sequence[SystemScores], baseline: SystemScores, resampling: Resampling
) -> list[PairedDifference]:
    """Every other system against ``baseline`` on every metric that both have, Holm-adjusted as one family.

    Values of whole corpora are tested like means: what a table shows is what is tested.
    """
    compared = [system for system in systems if system is not baseline]
    means = [
        compare(system, baseline, name, resampling)
        for system in compared
        for name in system.metrics
        if name in baseline.metrics
    ]
    corpora = [
        compare_corpora(system, baseline, name, resampling)
        for system in compared
        for name in system.counts
        if name in baseline.counts
    ]
    return with_holm([*means, *filter(None, corpora)])
