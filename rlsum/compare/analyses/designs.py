"""How much a comparison could show, and how large the next one should be: variances of its differences, and power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from rlsum.compare.results import Results
from rlsum.errors import UserError
from rlsum.evaluation.trained.hierarchical import Components, mean_difference, paired_table
from rlsum.evaluation.trained.power import (
    DEFAULTS,
    MOST_SEEDS,
    TARGET,
    Variances,
    detectable,
    fewest_seeds,
    power,
    smallest,
)
from rlsum.pages.blocks import Block, Paragraph
from rlsum.pages.table import SCALE, Cell, Table
from rlsum.readers import json_file

GAIN = 0.01  # a point
PLANNED = (2, 3, 5, 8, 10)  # seeds in the table of a plan
USUAL = (3, 1000)  # the design by which metrics are compared


class DesignError(UserError):
    """The results of an earlier comparison cannot be used."""


def pooled(results: Results, metric: str) -> Variances | None:
    """Variances of the differences of trained systems from the control (else the start): the mean over systems.

    None without two seeds of any trained system.
    """
    found = list(_components(results, metric))
    if not found:
        return None
    means = np.mean([estimates(each) for each in found], axis=0)
    seed, article, residual = (max(0.0, float(mean)) for mean in means)
    pairs = "difference" if len(found) == 1 else "differences"
    return Variances(seed, article, residual, f"estimated from {len(found)} {pairs} of {found[0].seeds} seeds")


def power_blocks(results: Results) -> list[Block]:
    """What this comparison could show by each metric, and the smallest design that shows ``GAIN`` (raw)."""
    known = {name: of for name in results.metrics if (of := pooled(results, name)) is not None}
    if not known:
        text = "Nothing is known about the variance between seeds: that needs two seeds of a trained system at least."
        return [Paragraph(text)]
    seeds, articles = len(results.seeds), len(results.ids)
    points = _points(GAIN)
    rows = []
    for name, of in known.items():
        needed = _smallest(GAIN, of)
        sds = (f"{SCALE * np.sqrt(variance):.2f}" for variance in (of.seed, of.article, of.residual))
        shown = (f"{power(GAIN, of, seeds, articles):.0%}", f"{SCALE * detectable(of, seeds, articles):.2f}", needed)
        rows.append(tuple(map(Cell, (name, *sds, *shown))))
    header = ("metric", "SD of seeds", "of articles", "of the rest", f"power for {points}", f"shown with {TARGET:.0%}")
    note = (
        f"For one difference at 5% without correction; {next(iter(known.values())).source}, in points. Few seeds "
        "estimate their own variance badly: an SD of 0 means that none was observed, not that there is none."
    )
    caption = f"What {seeds} seeds and {articles:,} articles can show"
    return [Table(caption, (*header, f"enough for {points}"), tuple(rows), (note,))]


def plan_blocks(seeds: int, articles: int, of: Variances, gain: float = GAIN) -> list[Block]:
    """What a planned comparison would show, and what fewer or more seeds and articles would; ``gain`` is raw."""
    counts = sorted({articles // 2, articles, 2 * articles, 4 * articles} - {0, 1})
    rows = [
        (Cell(f"{n}"), *(Cell(f"{power(gain, of, n, m):.0%}", mark=(n, m) == (seeds, articles)) for m in counts))
        for n in sorted({seeds, *PLANNED} - {1})
    ]
    header = ("seeds", *(f"{m:,} articles" for m in counts))
    caption = f"Power for a gain of {_points(gain)}"
    note = f"Variances: {of.source}. Bold: as planned."
    return [Paragraph(enough(seeds, articles, of, gain)), Table(caption, header, tuple(rows), (note,))]


def enough(seeds: int, articles: int, of: Variances, gain: float = GAIN) -> str:
    """How many seeds show a gain (raw), in a sentence or two."""
    least, points = fewest_seeds(gain, of, articles), _points(gain)
    needed = f"more than {MOST_SEEDS}" if least is None else f"{least.seeds}, which show it with {least.power:.0%}"
    seen = (
        "One seed allows no claim about other seeds."
        if seeds < 2
        else f"{seeds} seeds show a gain of {points} with a probability of {power(gain, of, seeds, articles):.0%}, and "
        f"one of {SCALE * detectable(of, seeds, articles):.1f} points with {TARGET:.0%}."
    )
    fewest = f"Seeds needed for {points}: {needed}. The smallest design: {_smallest(gain, of)}."
    return f"On {articles:,} articles: {seen} {fewest}"


def to_values(results: Results) -> dict[str, dict[str, float | str]]:
    """Metric -> its pooled variances, as results.json holds them."""
    found = {name: pooled(results, name) for name in results.metrics}
    return {name: asdict(of) for name, of in found.items() if of is not None}


def read_variances(path: Path) -> dict[str, Variances]:
    """Metric -> variances, from results.json of an earlier comparison, its main way of decoding.

    Raises DesignError for another file, or one without variances.
    """
    fix = "give report/results.json of a comparison with two seeds or more"
    data = json_file(path, fix, DesignError)
    try:
        found = {name: Variances(**values) for name, values in data[0]["variances"].items()}
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DesignError(f"{path}: no variances ({error}); {fix}") from error
    if not found:
        raise DesignError(f"{path}: no variances; {fix}")
    return found


def pilot_variances(path: Path | None) -> Variances:
    """Variances of an earlier comparison, of the metric by which a gain is hardest to show; without one, assumed."""
    if path is None:
        return DEFAULTS
    of = read_variances(path)
    name = max(of, key=lambda metric: detectable(of[metric], *USUAL))
    return replace(of[name], source=f"{name} in {path}, {of[name].source}")


def _points(gain: float) -> str:
    return "1 point" if gain == GAIN else f"{SCALE * gain:g} points"


def _smallest(gain: float, of: Variances) -> str:
    design = smallest(gain, of)
    return f"over {MOST_SEEDS} seeds" if design is None else f"{design.seeds} seeds, {design.articles:,} articles"


def _components(results: Results, metric: str) -> Iterator[Components]:
    """Of each trained system's differences from the control, with two seeds or more."""
    base = results.base
    if base is None or metric not in base.metrics:
        return
    for system in results.trained:
        if metric in system.metrics:
            found = mean_difference(paired_table(system.metrics[metric], base.metrics[metric])).components
            if found.seeds > 1 and found.articles > 1:
                yield found


def estimates(of: Components) -> tuple[float, float, float]:
    """Variances of seeds, articles and the rest, which may be negative: unbiased, to be averaged."""
    residual = float(of.residual)
    return float(of.by_seed - residual) / of.articles, float(of.by_article - residual) / of.seeds, residual
