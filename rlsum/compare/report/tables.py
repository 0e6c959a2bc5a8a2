"""The tables of a comparison. Scores are shown times 100, and a mean always with its interval."""

from __future__ import annotations

import math

import numpy as np

from rlsum.compare.results import Contrast, Results, System, best, metric_means, property_means
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, interval_cell, joined, text_table
from rlsum.scoring.tables import property_table

HOLM = f"Bold: different after Holm's correction for all tests of the table (p <= {ALPHA})."


def cross_table(results: Results) -> Table:
    """Rows trained on, columns evaluated by. The best is marked where it differs from every other row."""
    metrics = results.metrics
    absent = [name for name in dict.fromkeys(name for _, name in results.missing) if name not in metrics]
    tops = {metric: best(results, metric) for metric in metrics}
    rows = []
    for system in results.systems.values():
        cells, means = [Cell(system.title, lacks_seeds(results, system))], metric_means(results, system)
        for metric in metrics:
            if metric not in means:
                cells.append(Cell(UNDEFINED))
                continue
            top, cell = tops[metric], interval_cell(means[metric], SCALE, 2)
            alone = top is not None and top.shown and top.best == system.name
            tied = top is not None and top.seeds > 1 and bool(top.tied) and system.name in (top.best, *top.tied)
            count = counted(system.metrics[metric])
            details = (cell.detail, "tied" if tied else "", count)
            cells.append(Cell(cell.text, ", ".join(filter(None, details)), alone))
        rows.append((*cells, *(Cell("missing") for _ in absent)))
    note = (
        "Rows are what a model was trained on, columns what it is evaluated by. Bold: the best row of its column where "
        "it differs from every other; tied: not shown to differ from the best (Holm over all pairs of the column). "
        "Outputs of other systems do not compete, nor do rows that lack seeds or scores."
    )
    caption = f"Every system by every metric, x {SCALE}"
    return Table(caption, ("trained on", *metrics, *absent), tuple(rows), (note,))


def lacks_seeds(results: Results, system: System) -> str:
    """Which seeds a row has where it has not all of them; else ""."""
    has_scores = [[not np.isnan(of_seed).all() for of_seed in values] for values in system.metrics.values()]
    if not has_scores or len(has_scores[0]) < len(results.seeds):
        return ""
    has = [f"{seed}" for seed, *of_metrics in zip(results.seeds, *has_scores, strict=True) if any(of_metrics)]
    return "" if len(has) == len(results.seeds) else f"{len(has)} of {len(results.seeds)} seeds: {joined(has)}"


def counted(values: Floats) -> str:
    """On how many of the articles scores (seeds, articles) are defined, where not on all; else ""."""
    of_seeds = values[~np.isnan(values).all(axis=1)]
    defined = int((~np.isnan(of_seeds).any(axis=0)).sum()) if len(of_seeds) else 0
    return "" if defined == values.shape[1] else f"{defined:,} of {values.shape[1]:,} articles"


def missing_table(results: Results) -> Table:
    """Why a metric has no scores, or scores of some cells alone."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for (cell, metric), why in results.missing.items():
        reasons.setdefault((metric, " ".join(why.split())), []).append(cell)
    rows = ((metric, joined(cells), why) for (metric, why), cells in reasons.items())
    return text_table("Scores that are missing", ("metric", "cells", "reason"), rows)


def difference_table(results: Results, other: str) -> Table:
    """Every competing row minus ``other``, by every metric."""
    metrics = results.metrics
    test_of = {(test.system, test.metric): test for test in results.against[other]}
    rows = tuple(
        (Cell(system.title), *(gain_cell(test_of.get((system.name, metric))) for metric in metrics))
        for system in results.compared
        if system.name != other
    )
    title = results.systems[other].title
    return Table(f"Difference from {title}, x {SCALE}", ("system", *metrics), rows, (HOLM,))


def gain_cell(test: Contrast | None) -> Cell:
    """A signed difference with its interval, marked where the two differ after Holm's correction."""
    if test is None:
        return Cell(UNDEFINED)
    gain, corrected = test.difference, not math.isnan(test.difference.p_holm)
    return difference_cell(gain.mean, gain.low, gain.high, mark=test.shown and corrected, note=test.partial)


def properties(results: Results) -> Table:
    """Length, repetition, novelty, copying and invented names of every row."""
    rows = {system.title: property_means(system) for system in results.systems.values()}
    warning = "A longer summary can score higher by its length alone: compare the lengths, too."
    return property_table(rows, "Properties of the summaries", [warning])


def failures(results: Results) -> Table:
    """The cells without outputs, and why."""
    rows = ((name, " ".join(why.split())) for name, why in results.failed.items())
    return text_table("Cells without a result", ("cell", "reason"), rows)
