"""The errors of single annotators against the mean of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reproductions.neighbors.predictions import Mean, bootstrap_mean
from reproductions.neighbors.tasks import JudgedTexts
from rlsum.evaluation.coefficients.spearman import spearman
from rlsum.evaluation.rows import Floats

FEWEST = 5  # texts per annotator, for a rank correlation


@dataclass(frozen=True)
class Annotators:
    """Squared error and Spearman's rho of each annotator ``(judges,)`` on the texts they judged ``(judges,)``."""

    errors: Floats
    correlations: Floats
    texts: NDArray[np.int64]

    def average(self, values: Floats) -> Mean:
        """The mean of ``values (judges,)`` over those with enough texts, with an interval that draws annotators."""
        kept = self.texts >= FEWEST
        return bootstrap_mean(values[kept], tuple(str(judge) for judge in np.flatnonzero(kept)))


def annotators(judged: JudgedTexts) -> Annotators:
    """Every annotator against the mean score, in which the annotator's vote is, as in the paper.

    NaN for an annotator of fewer than 5 texts; a correlation also for constant votes.
    """
    present = ~np.isnan(judged.judgments)
    texts = present.sum(axis=0)
    errors, correlations = np.full(present.shape[1], np.nan), np.full(present.shape[1], np.nan)
    for judge in np.flatnonzero(texts >= FEWEST):
        votes, mean = judged.judgments[present[:, judge], judge], judged.scores[present[:, judge]]
        errors[judge] = ((votes - mean) ** 2).mean()
        correlations[judge] = float(spearman(votes, mean))
    return Annotators(errors, correlations, texts)
