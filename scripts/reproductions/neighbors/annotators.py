"""The errors of single annotators against the mean of all, and whether the texts a model covers are easier for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reproductions.neighbors.predictions import Mean, bootstrap_mean
from reproductions.neighbors.tasks import JudgedTexts
from rlsum.evaluation.coefficients.spearman import spearman

Floats = NDArray[np.float64]

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

    @property
    def best(self) -> tuple[float, float]:
        """The lowest error and the highest correlation, not necessarily of one annotator; NaN if undefined."""
        return -_highest(-self.errors), _highest(self.correlations)


def annotators(judged: JudgedTexts, own: bool = True) -> Annotators:
    """Every annotator against the mean score or, with ``own=False``, against the mean of the others.

    The paper uses the former, where the annotator's vote is in the mean. NaN for an annotator of fewer than 5 texts; a
    correlation also for constant votes.
    """
    given = ~np.isnan(judged.judgments)
    truth = np.broadcast_to(judged.scores[:, None], given.shape) if own else _others(judged.judgments)
    texts = (given & ~np.isnan(truth)).sum(axis=0)
    errors, correlations = np.full(given.shape[1], np.nan), np.full(given.shape[1], np.nan)
    for judge in np.flatnonzero(texts >= FEWEST):
        both = given[:, judge] & ~np.isnan(truth[:, judge])
        votes, mean = judged.judgments[both, judge], truth[both, judge]
        errors[judge] = ((votes - mean) ** 2).mean()
        correlations[judge] = float(spearman(votes, mean))
    return Annotators(errors, correlations, texts)


@dataclass(frozen=True)
class Difficulty:
    """Annotators' mean squared error on the ``covered`` texts and on ``all`` of them, and the test of a difference.

    ``p`` is two-tailed: the share of random sets of as many texts whose error differs as much. NaN if all texts are
    covered, or none.
    """

    covered: float
    all: float
    p: float
    share: float


def difficulty(judged: JudgedTexts, covered: NDArray[np.bool_], swaps: int = 10_000, seed: int = 0) -> Difficulty:
    """Section 5.3: the mean squared error of each annotator on covered texts and on all, averaged over annotators."""
    squared = (judged.judgments - judged.scores[:, None]) ** 2
    everything = float(_average(squared, np.ones((1, len(judged))))[0])
    share = float(covered.mean())
    if not 0 < share < 1:
        return Difficulty(everything if share else np.nan, everything, np.nan, share)
    on_covered = float(_average(squared, covered[None].astype(np.float64))[0])
    gap = abs(on_covered - everything)
    extreme = sum(
        int((np.abs(_average(squared, drawn) - everything) >= gap - 1e-12).sum())
        for drawn in _shuffled(covered, swaps, seed)
    )
    return Difficulty(on_covered, everything, (extreme + 1) / (swaps + 1), share)


def _highest(values: Floats) -> float:
    return float(np.nanmax(values)) if not np.isnan(values).all() else np.nan


def _average(squared: Floats, weights: Floats) -> Floats:
    """``(r,)``: the mean of ``squared (n, judges)`` of each annotator under weights ``(r, n)``, averaged over them."""
    given = ~np.isnan(squared)
    counts = weights @ given
    sums = weights @ np.where(given, squared, 0.0)
    met = counts > 0
    means = np.where(met, sums / np.maximum(counts, 1), 0.0)
    averages: Floats = means.sum(axis=1) / met.sum(axis=1)
    return averages


def _shuffled(covered: NDArray[np.bool_], swaps: int, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng(seed)
    labels = covered.astype(np.float64)
    for start in range(0, swaps, 500):
        yield generator.permuted(np.tile(labels, (min(500, swaps - start), 1)), axis=1)


def _others(judgments: Floats) -> Floats:
    """For every judgment the mean of the other judgments of its text; NaN if there is none."""
    given = ~np.isnan(judgments)
    total, count = np.where(given, judgments, 0.0).sum(axis=1, keepdims=True), given.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(given & (count > 1), (total - judgments) / (count - 1), np.nan)
