"""The experiments of the paper, from tasks and kernel matrices to numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reproductions.neighbors.kernels import Kernel, Matrices
from reproductions.neighbors.predictions import RESAMPLES, Quality, Thresholds, predict, quality
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import Uncertainty

SIZES = (25, 50, 75, 100, 150, 200, 300, 500, 1000)
DRAWS = 20
LENGTH = "length alone"


@dataclass(frozen=True)
class Budget:
    """The ``resamples`` per interval, the ``seed``."""

    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class ModelScores:
    """A task with the predictions ``(n,)`` of several models and their qualities."""

    task: NeighborTask
    predictions: Mapping[str, Floats]
    qualities: Mapping[str, Quality]


def compare_kernels(task: NeighborTask, kernels: Sequence[Kernel], matrices: Matrices, budget: Budget) -> ModelScores:
    """Table 1: every kernel, with its threshold, on the same texts and examples."""
    predictions = {}
    for kernel in kernels:
        similar = matrices(kernel, task.tested.texts, task.examples.texts)
        predictions[kernel.name] = predict(similar, task, Thresholds(kernel.tau, b=task.b))
    return _scored(task, predictions, budget)


@dataclass(frozen=True)
class Crossing:
    """Texts of task ``tested`` scored by the examples of task ``examples``."""

    tested: str
    examples: str
    quality: Quality


def cross(tasks: Sequence[NeighborTask], kernel: Kernel, matrices: Matrices, budget: Budget) -> Iterator[Crossing]:
    """Table 2: the texts of every task scored by the examples of every task."""
    for task in tasks:
        for source in tasks:
            crossed = task if source is task else replace(task, examples=source.examples)
            similar = matrices(kernel, crossed.tested.texts, crossed.examples.texts)
            predicted = predict(similar, crossed, Thresholds(kernel.tau, b=task.b))
            yield Crossing(task.name, source.name, quality(predicted, crossed, budget.resamples, budget.seed))


@dataclass(frozen=True)
class SizeResult:
    """``DRAWS`` random sets of ``size`` examples: mean and standard deviation of rho, of coverage and of the MSE.

    ``defined`` counts the draws with a correlation, over which the numbers are taken.
    """

    task: str
    size: int
    defined: int
    correlation: float
    correlation_sd: float
    coverage: float
    coverage_sd: float
    error: float


def sizes(task: NeighborTask, kernel: Kernel, matrices: Matrices, budget: Budget) -> Iterator[SizeResult]:
    """Figure 4: fewer examples, drawn 20 times; if they are the tested texts, these are drawn, too."""
    similar = matrices(kernel, task.tested.texts, task.examples.texts)
    limits = Thresholds(kernel.tau, b=task.b)
    total = len(task.examples)
    for size in sorted({size for size in SIZES if size < total} | {total}):
        runs = []
        for draw in range(DRAWS if size < total else 1):
            generator = np.random.default_rng([budget.seed, size, draw])
            kept = np.sort(generator.choice(total, size, replace=False))
            runs.append(_small(task, similar, kept, limits))
        defined = np.array([run for run in runs if not np.isnan(run[0])]).reshape(-1, 3)
        if len(defined):
            (rho, coverage, error), (rho_sd, coverage_sd, _) = defined.mean(axis=0), defined.std(axis=0)
            yield SizeResult(task.name, size, len(defined), *map(float, (rho, rho_sd, coverage, coverage_sd, error)))


def _small(
    task: NeighborTask, similar: Floats, kept: NDArray[np.intp], limits: Thresholds
) -> tuple[float, float, float]:
    """Rho, coverage and MSE with only the examples at ``kept``."""
    examples = task.examples.at(kept)
    smaller = replace(task, tested=examples if task.own else task.tested, examples=examples)
    predicted = predict(similar[np.ix_(kept, kept)] if task.own else similar[:, kept], smaller, limits)
    human, covered = smaller.tested.scores, ~np.isnan(predicted)
    if not covered.any():
        return np.nan, 0.0, np.nan
    rho = correlate(human, predicted, how=Uncertainty(resamples=0)).value
    return rho, float(covered.mean()), float(((predicted - human)[covered] ** 2).mean())


def topics(
    tested: JudgedTexts, sources: Sequence[JudgedTexts], kernel: Kernel, matrices: Matrices, budget: Budget
) -> ModelScores:
    """Table 3: the same essays scored by the examples of each topic, and by their number of words."""
    task = NeighborTask(tested.name, tested, tested, b=1.0)
    predictions, qualities = {}, {}
    for source in sources:
        of_source = replace(task, examples=source)
        similar = matrices(kernel, tested.texts, source.texts)
        predictions[source.name] = predict(similar, of_source, Thresholds(kernel.tau, b=1.0))
        qualities[source.name] = quality(predictions[source.name], of_source, budget.resamples, budget.seed)
    words = np.array([len(text.split()) for text in tested.texts], dtype=np.float64)
    length = _scored(task, {LENGTH: words}, budget)
    return ModelScores(task, {**predictions, **length.predictions}, {**qualities, **length.qualities})


def _scored(task: NeighborTask, predictions: Mapping[str, Floats], budget: Budget) -> ModelScores:
    qualities = {
        name: quality(predicted, task, budget.resamples, budget.seed) for name, predicted in predictions.items()
    }
    return ModelScores(task, dict(predictions), qualities)
