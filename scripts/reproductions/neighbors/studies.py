"""The paper's experiments, each from tasks and kernel matrices to figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reproductions.neighbors.kernels import Kernel, Matrices
from reproductions.neighbors.predictions import RESAMPLES, Quality, Thresholds, predict, quality
from reproductions.neighbors.tasks import Judged, Task, drawn
from rlsum.evaluation.correlation import correlate

Floats = NDArray[np.float64]

A_VALUES = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80)
B_VALUES = tuple(round(0.05 * step, 2) for step in range(1, 21))
TAU_VALUES = tuple(round(0.02 * step, 2) for step in range(1, 26))
SIZES = (25, 50, 75, 100, 150, 200, 300, 500, 1000)
DRAWS = 20


@dataclass(frozen=True)
class Budget:
    """``pairs`` of texts that a kernel compares in Table 1 at most, ``resamples`` of every interval, the ``seed``."""

    pairs: int = 100_000
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Scored:
    """A task with the predictions ``(n,)`` of several models, and how good each is."""

    task: Task
    predictions: Mapping[str, Floats]
    qualities: Mapping[str, Quality]


def compare_kernels(task: Task, kernels: Sequence[Kernel], matrices: Matrices, budget: Budget) -> Scored:
    """Table 1: every kernel with its own threshold on the same texts and examples."""
    task = drawn(task, budget.pairs, budget.seed)
    predictions = {}
    for kernel in kernels:
        similar = matrices(kernel, task.tested.texts, task.examples.texts)
        predictions[kernel.name] = predict(similar, task, Thresholds(kernel.tau, b=task.b))
    return _scored(task, predictions, budget)


@dataclass(frozen=True)
class Point:
    """One setting of a sweep: ``parameter`` had this ``value``, the others their defaults."""

    task: str
    kernel: str
    parameter: str
    value: float
    quality: Quality


def sweep(task: Task, kernel: Kernel, matrices: Matrices, budget: Budget) -> Iterator[Point]:
    """Figures 2 and 3: ``a``, ``b`` and ``tau`` in turn, the others held at the task's defaults."""
    similar = matrices(kernel, task.tested.texts, task.examples.texts)
    default = Thresholds(kernel.tau, b=task.b)
    settings = [("a", float(a), replace(default, a=a)) for a in A_VALUES]
    settings += [("b", b, replace(default, b=b)) for b in B_VALUES]
    settings += [("tau", tau, replace(default, tau=tau)) for tau in TAU_VALUES]
    for parameter, value, limits in settings:
        found = quality(predict(similar, task, limits), task, budget.resamples, budget.seed)
        yield Point(task.name, kernel.name, parameter, value, found)


@dataclass(frozen=True)
class Crossing:
    """Texts of task ``tested`` scored by the examples of task ``examples``."""

    tested: str
    examples: str
    quality: Quality


def cross(tasks: Sequence[Task], kernel: Kernel, matrices: Matrices, budget: Budget) -> Iterator[Crossing]:
    """Table 2: the texts of every task by the examples of every task."""
    for task in tasks:
        for other in tasks:
            crossed = task if other is task else replace(task, examples=other.examples)
            similar = matrices(kernel, crossed.tested.texts, crossed.examples.texts)
            predicted = predict(similar, crossed, Thresholds(kernel.tau, b=task.b))
            yield Crossing(task.name, other.name, quality(predicted, crossed, budget.resamples, budget.seed))


@dataclass(frozen=True)
class Size:
    """``DRAWS`` random sets of ``size`` examples: mean and standard deviation of rho, of coverage and of the MSE.

    ``defined`` draws had a correlation; figures are over those.
    """

    task: str
    size: int
    defined: int
    correlation: float
    correlation_sd: float
    coverage: float
    coverage_sd: float
    error: float


def sizes(task: Task, kernel: Kernel, matrices: Matrices, budget: Budget) -> Iterator[Size]:
    """Figure 4: fewer examples, drawn anew 20 times; where they are the tested texts, these are drawn with them."""
    similar = matrices(kernel, task.tested.texts, task.examples.texts)
    limits = Thresholds(kernel.tau, b=task.b)
    total = len(task.examples)
    for size in sorted({size for size in SIZES if size < total} | {total}):
        runs = []
        for draw in range(DRAWS if size < total else 1):
            generator = np.random.default_rng([budget.seed, size, draw])
            kept = np.sort(generator.choice(total, size, replace=False))
            runs.append(_small(task, similar, kept, limits))
        found = np.array([run for run in runs if not np.isnan(run[0])]).reshape(-1, 3)
        if len(found):
            (rho, coverage, error), (rho_sd, coverage_sd, _) = found.mean(axis=0), found.std(axis=0)
            yield Size(task.name, size, len(found), *map(float, (rho, rho_sd, coverage, coverage_sd, error)))


def _small(task: Task, similar: Floats, kept: NDArray[np.intp], limits: Thresholds) -> tuple[float, float, float]:
    """Rho, coverage and MSE with the examples at ``kept`` alone."""
    examples = task.examples.at(kept)
    part = replace(task, tested=examples if task.own else task.tested, examples=examples)
    predicted = predict(similar[np.ix_(kept, kept)] if task.own else similar[:, kept], part, limits)
    human, covered = part.tested.scores, ~np.isnan(predicted)
    if not covered.any():
        return np.nan, 0.0, np.nan
    rho = correlate(human, predicted, resamples=0).value
    return rho, float(covered.mean()), float(((predicted - human)[covered] ** 2).mean())


def topics(
    tested: Judged,
    sources: Sequence[Judged],
    kernel: Kernel,
    matrices: Matrices,
    budget: Budget,
    others: Mapping[str, Floats],
) -> Scored:
    """Table 3: the same essays by the examples of each topic, beside ``others``, scores made in another way."""
    task = Task(tested.name, tested, tested, b=1.0)
    predictions, qualities = {}, {}
    for source in sources:
        of_source = replace(task, examples=source)
        similar = matrices(kernel, tested.texts, source.texts)
        predictions[source.name] = predict(similar, of_source, Thresholds(kernel.tau, b=1.0))
        qualities[source.name] = quality(predictions[source.name], of_source, budget.resamples, budget.seed)
    beside = _scored(task, others, budget)
    return Scored(task, {**predictions, **others}, {**qualities, **beside.qualities})


def _scored(task: Task, predictions: Mapping[str, Floats], budget: Budget) -> Scored:
    qualities = {
        name: quality(predicted, task, budget.resamples, budget.seed) for name, predicted in predictions.items()
    }
    return Scored(task, dict(predictions), qualities)
