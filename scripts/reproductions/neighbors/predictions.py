"""Kernel values -> predicted scores -> the numbers of the paper; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reproductions.neighbors.tasks import NeighborTask
from rewards.lexical.neighbors import estimate
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import Correlation, bootstrap_values, correlate, interval, percentiles
from rlsum.evaluation.rows import Floats, judged_rows, numbered
from rlsum.evaluation.statistics import LEVEL, Uncertainty

RESAMPLES = 2_000


@dataclass(frozen=True)
class Thresholds:
    """Neighbours have a similarity of at least ``tau``; at least ``a``, and at most the share ``b`` of the examples."""

    tau: float
    a: int = 5
    b: float = 0.66


@dataclass(frozen=True)
class Mean:
    """A mean with its bootstrap interval; NaN if undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Quality:
    """The quality of predictions over the ``n`` texts that have one, the share ``coverage`` of all texts.

    ``baseline`` is the squared error of predicting the mean score of the examples for the same texts; ``gain`` is
    ``baseline - error``.
    """

    error: Mean
    baseline: Mean
    gain: Mean
    correlation: Correlation
    coverage: Mean
    n: int


def predict(similar: Floats, task: NeighborTask, limits: Thresholds) -> Floats:
    """Predicted scores ``(n,)`` from kernel values ``similar (n, m)``: those of the reward bleu-neighbors.

    NaN for too few or too many neighbours; the lowest score of the examples for a blank text, as in the reward.
    """
    allowed = task.allowed
    near = (similar >= limits.tau) & allowed
    scores = estimate(near, task.examples.scores, allowed.sum(axis=1), limits.a, limits.b)
    blank = np.array([not text.strip() for text in task.tested.texts])
    predicted: Floats = np.where(blank, task.examples.scores.min(), scores)
    return predicted.round(12)  # so that rounding does not break ties of ranks


def mean_score(task: NeighborTask) -> Floats:
    """The mean score of the allowed examples ``(n,)``: a prediction that does not use the text."""
    allowed = task.allowed
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (allowed @ task.examples.scores) / allowed.sum(axis=1)
    return means


def quality(predicted: Floats, task: NeighborTask, resamples: int = RESAMPLES, seed: int = 0) -> Quality:
    """The quality of predictions ``(n,)``, with intervals that draw whole inputs."""
    human, inputs = task.tested.scores, task.tested.inputs
    error, baseline = (predicted - human) ** 2, (mean_score(task) - human) ** 2
    covered = ~np.isnan(predicted)
    baseline = np.where(covered, baseline, np.nan)
    means = {
        name: bootstrap_mean(values, inputs, resamples, seed)
        for name, values in (
            ("error", error),
            ("baseline", baseline),
            ("gain", baseline - error),
            ("coverage", covered.astype(np.float64)),
        )
    }
    correlation = correlate(human, predicted, inputs=inputs, how=Uncertainty(resamples=0))
    if resamples and not correlation.reason:
        rows = judged_rows(human, predicted, inputs)
        how = Uncertainty(resamples=resamples, seed=seed)
        ends = interval(named("spearman").engine(rows, "pooled"), rows.unit, rows.units, how)
        correlation = replace(correlation, low=ends[0], high=ends[1], reason=ends[2])
    return Quality(correlation=correlation, n=int(covered.sum()), **means)


def bootstrap_mean(values: Floats, inputs: tuple[str, ...], resamples: int = RESAMPLES, seed: int = 0) -> Mean:
    """The mean of ``values (n,)``, NaN left out, with a percentile interval that draws whole inputs."""
    unit, units = numbered("inputs", inputs, len(values))
    defined = ~np.isnan(values)
    if not defined.any():
        return Mean(np.nan, np.nan, np.nan)
    sums = np.bincount(unit[defined], values[defined], minlength=units)
    counts = np.bincount(unit[defined], minlength=units)

    def mean(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return (weights @ sums) / (weights @ counts)

    value = float(values[defined].mean())
    if not resamples or len(np.unique(unit[defined])) < 2:
        return Mean(value, np.nan, np.nan)
    low, high, _ = percentiles(bootstrap_values(mean, units, resamples, seed), LEVEL)
    return Mean(value, low, high)
