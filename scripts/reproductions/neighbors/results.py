"""Results as tables, with the numbers in the text of the paper; its tables are not available."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reproductions.neighbors import data
from reproductions.neighbors.annotators import Difficulty, annotators
from reproductions.neighbors.kernels import Kernel
from reproductions.neighbors.predictions import Mean, Quality
from reproductions.neighbors.studies import Crossing, ModelScores, Point, SizeResult
from reproductions.neighbors.tables import Row, Value, number, study, within
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask
from reproductions.published import ABSENT
from reproductions.reproduction import Reproduction
from rlsum.evaluation.correlation import Correlation

# Sections 5.2 and 5.6 of the paper's text, for BLEU Neighbors.
COVERAGE = {data.SUMMARIES: 0.99, data.DIALOGUE: 0.76, data.OPEN_ENDED: 0.41, data.ESSAYS: 1.0}
BEST_TOPIC_RHO = 0.500

BOTH_SETTINGS = "BLEU* ends at the first order without a match (zero_order=stop); as printed it is 0 (zero_order=zero)"
INTERVALS = "95% bootstrap intervals, whole inputs drawn; rho is Spearman's, over the covered texts"


def kernels_table(scored: Sequence[ModelScores], kernels: Sequence[Kernel]) -> Reproduction:
    """Table 1."""
    taus = {kernel.name: kernel.tau for kernel in kernels}
    rows: list[Row] = []
    for models in scored:
        for name, quality in models.qualities.items():
            coverage = COVERAGE.get(models.task.name) if name == "BLEU*" else None
            published = ABSENT if coverage is None else number(coverage)
            model: Row = {"task": models.task.name, "model": name, "tau": taus[name]}
            rows.append({**model, **_figures(quality), "coverage published": published})
        rows += _annotator_rows(models.task.tested)
    notes = [
        BOTH_SETTINGS,
        INTERVALS,
        "MSE of the mean: predicting the mean score of the examples for the same texts",
        *(f"{models.task.name}: {models.task.note}" for models in scored if models.task.note),
        *(f"{models.task.name}: annotators are anonymous" for models in scored if not models.task.tested.has_judges),
    ]
    return study("table1", "Table 1: kernels, annotators", rows, notes)


def _figures(quality: Quality) -> dict[str, Value]:
    means = quality.baseline.value, quality.coverage.value
    return _measures(quality.n, quality.error, quality.correlation, *means)


def _annotator_rows(judged: JudgedTexts) -> list[Row]:
    if not judged.has_judges:
        return []
    own, others = annotators(judged), annotators(judged, own=False)
    least, highest = (Mean(value, np.nan, np.nan) for value in own.best)
    rows = {
        "average": (own, own.average(own.errors), own.average(own.correlations)),
        "average, own vote not in the mean": (
            others,
            others.average(others.errors),
            others.average(others.correlations),
        ),
        "best": (own, least, highest),
    }
    return [
        {
            "task": judged.name,
            "model": f"annotator, {which}",
            "tau": np.nan,
            **_measures(f"{int(people.texts.min())} to {int(people.texts.max())} each", error, rho),
            "coverage published": "",
        }
        for which, (people, error, rho) in rows.items()
    ]


def _measures(
    texts: Value, error: Mean, rho: Mean | Correlation, baseline: float = np.nan, coverage: float = np.nan
) -> dict[str, Value]:
    return {
        "texts": texts,
        "MSE": error.value,
        "MSE 95%": within(error.low, error.high),
        "MSE published": ABSENT,
        "MSE of the mean": baseline,
        "rho": rho.value,
        "rho 95%": within(rho.low, rho.high),
        "rho published": ABSENT,
        "coverage": coverage,
    }


def sweep_table(points: Sequence[Point]) -> Reproduction:
    """Figures 2 and 3, and the same for tau."""
    rows: list[Row] = [
        {
            "task": point.task,
            "kernel": point.kernel,
            "parameter": point.parameter,
            "value": point.value,
            "rho": point.quality.correlation.value,
            "rho 95%": within(point.quality.correlation.low, point.quality.correlation.high),
            "coverage": point.quality.coverage.value,
            "MSE": point.quality.error.value,
            "MSE of the mean": point.quality.baseline.value,
        }
        for point in points
    ]
    return study("sweeps", "Figures 2 and 3: thresholds", rows, [INTERVALS])


def cross_table(crossings: Mapping[str, Sequence[Crossing]]) -> Reproduction:
    """Table 2, by kernel."""
    rows = [
        {
            "kernel": kernel,
            "examples of": crossing.examples,
            "texts of": crossing.tested,
            **_figures(crossing.quality),
        }
        for kernel, items in crossings.items()
        for crossing in items
    ]
    return study("table2", "Table 2: examples of another task", rows, [INTERVALS])


def sizes_table(sizes: Sequence[SizeResult]) -> Reproduction:
    """Figure 4."""
    rows: list[Row] = [
        {
            "task": size.task,
            "examples": size.size,
            "draws": size.defined,
            "rho": size.correlation,
            "rho sd": size.correlation_sd,
            "coverage": size.coverage,
            "coverage sd": size.coverage_sd,
            "MSE": size.error,
        }
        for size in sizes
    ]
    notes = ["means and standard deviations over random sets of examples; the last size is all of them, once"]
    return study("figure4", "Figure 4: fewer examples", rows, notes)


def topics_table(scored: Mapping[str, Sequence[ModelScores]]) -> Reproduction:
    """Table 3, by kernel: a row per source of examples; no MSE for metrics and length."""
    rows: list[Row] = []
    for kernel, sets in scored.items():
        for models in sets:
            for name, quality in models.qualities.items():
                examples = name.startswith(("topic", "all but"))
                if not examples and kernel != next(iter(scored)):
                    continue  # independent of the kernel
                rows.append(_topic_row(models.task, kernel if examples else "-", name, quality, examples))
    notes = [
        f"published: rho {number(BEST_TOPIC_RHO)} and full coverage by examples of topic 8; the other rows are not "
        "available",
        "ROUGE-L, WMS, SMS and S+WMS have a reference: the longest essay that both raters gave the best score",
        BOTH_SETTINGS,
        INTERVALS,
    ]
    return study("table3", "Table 3: essays of topic 3 by examples of models topic", rows, notes)


def _topic_row(task: NeighborTask, kernel: str, name: str, quality: Quality, examples: bool) -> dict[str, Value]:
    published = number(BEST_TOPIC_RHO) if name == f"topic {data.BEST}" and task.name == data.ESSAYS else ABSENT
    return {
        "essays": task.name,
        "kernel": kernel,
        "examples": name,
        "texts": quality.n,
        "rho": quality.correlation.value,
        "rho 95%": within(quality.correlation.low, quality.correlation.high),
        "rho published": published if kernel != "BLEU* as printed" else ABSENT,
        "coverage": quality.coverage.value,
        "MSE": quality.error.value if examples else float("nan"),
        "MSE of the mean": quality.baseline.value if examples else float("nan"),
    }


def difficulty_table(difficulties: Mapping[tuple[str, str], Difficulty]) -> Reproduction:
    """Section 5.3, by task and kernel."""
    rows: list[Row] = [
        {
            "task": task,
            "covered by": kernel,
            "coverage": difficulty.share,
            "annotators' MSE, all texts": difficulty.all,
            "annotators' MSE, covered": difficulty.covered,
            "p": difficulty.p,
        }
        for (task, kernel), difficulty in difficulties.items()
    ]
    notes = ["p: two-tailed, as many texts drawn at random, 10,000 times; a dash where all texts or none are covered"]
    return study("section5.3", "Section 5.3: are covered texts easier for annotators?", rows, notes)
