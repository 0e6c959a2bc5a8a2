"""Correlations of every metric with people on one set of judged texts, and tests between metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from reproductions.estimate import Estimate, estimate
from reproductions.movers.metrics import MoverSetup
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import Result, evaluate
from rlsum.meta_evaluation.scores import ScoreTable, scored

STATISTIC: str = "spearman"  # "all correlations are Spearman correlations"


@dataclass(frozen=True, eq=False)
class Measured:
    """A set of texts, the statistics of each column of ``table``, and the correlations with their draws."""

    judgments: Judgments
    table: ScoreTable
    result: Result
    estimates: Mapping[str, Estimate]

    @property
    def name(self) -> str:
        """The name of the texts: summaries, essays."""
        return self.judgments.name

    def rank(self, label: str) -> float:
        """The correlation of a column, minus infinity if undefined."""
        value = self.estimates[label].value
        return -math.inf if math.isnan(value) else value


def measure(setup: MoverSetup, judgments: Judgments, seed: int) -> Measured:
    """Score the texts and correlate."""
    table = scored(judgments, setup.rewards, cache=setup.cache)
    return correlated(judgments, table, setup.resamples, seed)


def correlated(judgments: Judgments, table: ScoreTable, resamples: int, seed: int) -> Measured:
    """Spearman over all rows, with intervals and tests by whole inputs."""
    result = evaluate(table, STATISTIC, Choices(resamples=resamples, seed=seed))
    return Measured(judgments, table, result, estimates(table, resamples, seed))


def estimates(table: ScoreTable, resamples: int, seed: int) -> dict[str, Estimate]:
    """The correlation of every column with its draws; all columns draw the same inputs."""
    return {
        label: estimate(table.human, column.scores, table.inputs, STATISTIC, resamples, seed)
        for label, column in table.columns.items()
    }
