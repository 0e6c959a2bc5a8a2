"""Every metric against people on one set of judged texts: correlations, and tests between any two."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from reproductions.estimate import Estimate, estimate
from reproductions.movers.metrics import Setting
from rlsum.evaluation.weighted import Statistic
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.evaluation import Choices, Result, evaluate
from rlsum.meta_evaluation.scores import ScoreTable, scored

STATISTIC: Statistic = "spearman"  # "all correlations are Spearman correlations"


@dataclass(frozen=True, eq=False)
class Measured:
    """A set of texts, how each column of ``table`` agrees with people, and that again with its draws."""

    judgments: Judgments
    table: ScoreTable
    result: Result
    estimates: Mapping[str, Estimate]

    @property
    def name(self) -> str:
        """Of the texts: summaries, essays."""
        return self.judgments.name

    def rank(self, label: str) -> float:
        """The correlation of a column, the lowest where it is undefined."""
        value = self.estimates[label].value
        return -math.inf if math.isnan(value) else value

    def ahead(self, one: str, other: str) -> Estimate:
        """By how much the correlation of a column is above that of another."""
        return self.estimates[one] - self.estimates[other]


def measure(setting: Setting, judgments: Judgments, seed: int) -> Measured:
    """Score the texts and correlate."""
    table = scored(judgments, setting.rewards, cache=setting.kept)
    return correlated(judgments, table, setting.resamples, seed)


def correlated(judgments: Judgments, table: ScoreTable, resamples: int, seed: int) -> Measured:
    """Spearman over all rows, with intervals and tests by whole inputs."""
    result = evaluate(table, STATISTIC, Choices(resamples=resamples, seed=seed))
    return Measured(judgments, table, result, estimates(table, resamples, seed))


def estimates(table: ScoreTable, resamples: int, seed: int) -> dict[str, Estimate]:
    """Every column's correlation with its draws, which are of the same inputs for all columns."""
    return {
        label: estimate(table.human, column.scores, table.inputs, STATISTIC, resamples, seed)
        for label, column in table.columns.items()
    }
