"""Results as tables and a picture, with the numbers in the text of the paper; its tables are not available."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reproductions.claims import Claim
from reproductions.neighbors import data
from reproductions.neighbors.annotators import annotators
from reproductions.neighbors.findings import BEST_TOPIC_RHO, BLEU, COVERAGE, number
from reproductions.neighbors.kernels import Kernel
from reproductions.neighbors.predictions import Mean, Quality
from reproductions.neighbors.studies import Crossing, ModelScores, SizeResult
from reproductions.published import ABSENT
from reproductions.reproduction import Reproduction
from rlsum.evaluation.correlation import Correlation
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS, Picture
from rlsum.pages.table import UNDEFINED, text_table

Row = Mapping[str, str | int | float]
INTERVALS = "95% bootstrap intervals, whole inputs drawn; rho is Spearman's, over the covered texts"


def study(
    name: str, title: str, rows: Sequence[Row], notes: Sequence[str], claims: Sequence[Claim], *pictures: Picture
) -> Reproduction:
    """A table of ``rows``, which all have the same columns, in the order in which they are shown."""
    header = tuple(rows[0])
    table = text_table(title, header, ((shown(row[column]) for column in header) for row in rows))
    return Reproduction(name, (table,), pictures, tuple(claims), tuple(notes))


def shown(value: str | int | float) -> str:
    """A value for reading: text unchanged, ``.123``, ``-.500``, ``1,250``, a dash for NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return UNDEFINED if math.isnan(value) else number(value)


def kernels_table(scored: Sequence[ModelScores], kernels: Sequence[Kernel], claims: Sequence[Claim]) -> Reproduction:
    """Table 1: kernels, and the average annotator."""
    taus = {kernel.name: kernel.tau for kernel in kernels}
    rows: list[Row] = []
    for models in scored:
        task, people = models.task.name, annotators(models.task.tested)
        for name, quality in models.qualities.items():
            published = number(COVERAGE[task]) if name == BLEU else ABSENT
            rows.append({"task": task, "model": name, "tau": taus[name], **_figures(quality), "published": published})
        if models.task.tested.judgments.shape[1]:
            error, rho = people.average(people.errors), people.average(people.correlations)
            texts = f"{int(people.texts.min())} to {int(people.texts.max())} each"
            measures = _measures(texts, error, rho, np.nan, np.nan)
            rows.append({"task": task, "model": "annotator, average", "tau": np.nan, **measures, "published": ""})
    notes = [
        "BLEU* ends at the first order without a match (zero_order=stop); as printed it is 0 (zero_order=zero)",
        INTERVALS,
        "MSE of the mean: predicting the mean score of the examples for the same texts; published: coverage",
    ]
    return study("table1", "Table 1: kernels, annotators", rows, notes, claims)


def _figures(quality: Quality) -> Row:
    return _measures(quality.n, quality.error, quality.correlation, quality.baseline.value, quality.coverage.value)


def _measures(texts: str | int, error: Mean, rho: Mean | Correlation, baseline: float, coverage: float) -> Row:
    return {
        "texts": texts,
        "MSE": error.value,
        "MSE 95%": _within(error),
        "MSE of the mean": baseline,
        "rho": rho.value,
        "rho 95%": _within(rho),
        "coverage": coverage,
    }


def _within(mean: Mean | Correlation) -> str:
    return "" if math.isnan(mean.low) else f"{number(mean.low)} to {number(mean.high)}"


def cross_table(crossings: Sequence[Crossing], claims: Sequence[Claim]) -> Reproduction:
    """Table 2."""
    rows = [{"examples of": row.examples, "texts of": row.tested, **_figures(row.quality)} for row in crossings]
    return study("table2", "Table 2: examples of another task", rows, [INTERVALS], claims)


def topics_table(scored: Mapping[str, Sequence[ModelScores]], claims: Sequence[Claim]) -> Reproduction:
    """Table 3, by kernel: a row per source of examples, and length alone."""
    rows = [
        {"essays": models.task.name, "kernel": kernel, "examples": name, **_figures(quality)}
        for kernel, sets in scored.items()
        for models in sets
        for name, quality in models.qualities.items()
    ]
    published = f"published: rho {number(BEST_TOPIC_RHO)} and full coverage by examples of topic {data.BEST}"
    notes = [published, "MSE of length alone has no meaning", INTERVALS]
    return study("table3", f"Table 3: essays of topic {data.TESTED} by examples of a topic", rows, notes, claims)


def sizes_table(sizes: Sequence[SizeResult], claims: Sequence[Claim]) -> Reproduction:
    """Figure 4: a row a number of examples, and a panel per task with standard deviations."""
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
    panels = []
    for task in dict.fromkeys(size.task for size in sizes):
        of_task = [size for size in sizes if size.task == task]
        numbers = np.array([size.size for size in of_task], dtype=np.float64)
        curves = []
        for (name, label), colour in zip({"correlation": "rho", "coverage": "coverage"}.items(), COLOURS, strict=False):
            values = np.array([getattr(size, name) for size in of_task])
            spread = np.array([getattr(size, f"{name}_sd") for size in of_task])
            curves.append(Curve(label, colour, numbers, values, band=(values - spread, values + spread)))
        panels.append(Panel(task, tuple(curves), "examples", (-0.4, 1.05)))
    drawn = picture("figure4", "Fewer examples", "rho and coverage by the number of examples", panels)
    notes = ["means and standard deviations over random sets of examples; the last size is all of them, once"]
    return study("figure4", "Figure 4: fewer examples", rows, notes, claims, drawn)
