"""How much a comparison could show, and how large the next one should be: variances of its differences, and power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from scipy.special import chdtri

from rlsum.compare.cells import NONE, START
from rlsum.compare.results import Results
from rlsum.errors import UserError
from rlsum.evaluation.trained.hierarchical import Components, mean_difference, paired_table
from rlsum.evaluation.trained.power import (
    DEFAULTS,
    MOST_SEEDS,
    TARGET,
    Family,
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
SINGLE = Family()
BOUND = 0.8  # confidence of the upper bound of the seeds' spread (Browne 1995)
PLANNED = (2, 3, 5, 8, 10)  # seeds in the table of a plan
USUAL = (3, 1000)  # the design by which metrics are compared


class DesignError(UserError):
    """The results of an earlier comparison cannot be used."""


def pooled(results: Results, metric: str) -> Variances | None:
    """Variances of the differences of trained systems from the control (else the start): the mean over systems,
    each by its own seeds and articles.

    Of seeds an upper bound: few seeds often show no spread by chance, and a plan that believes it has half the seeds
    that it needs. None without two seeds of any trained system.
    """
    observed = list(_components(results, metric))
    if not observed:
        return None
    bounded = [replace(each, by_seed=each.by_seed * spread_bound(each.seeds, len(observed))) for each in observed]
    seed, article, residual = (max(0.0, float(mean)) for mean in np.mean([*map(estimates, bounded)], axis=0))
    pairs = "difference" if len(observed) == 1 else "differences"
    counts = " or ".join(map(str, sorted({each.seeds for each in observed})))
    source = f"estimated from {len(observed)} {pairs} of {counts} seeds, of seeds an {BOUND:.0%} upper bound"
    if seed <= DEFAULTS.seed / 100:
        seed, source = DEFAULTS.seed, f"{source}, where it is 0 the usual SD of .5 points"
    return Variances(seed, article, residual, source)


def spread_bound(seeds: int, systems: int) -> float:
    """The factor from an estimated mean square of seeds to its upper bound at confidence ``BOUND``.

    The differences of several systems from one control share its seeds: their mean squares are correlated by 1/4.
    """
    df = (seeds - 1) * systems / (1 + (systems - 1) / 4)
    return df / float(chdtri(df, BOUND))


def family_of(results: Results) -> Family:
    """The family of the verdicts on the rewards."""
    return Family(max(1, results.family), max(1, sum(name in results.systems for name in (START, NONE))))


def power_blocks(results: Results) -> list[Block]:
    """What this comparison could show by each metric, and the smallest design that shows ``GAIN`` (raw)."""
    by_metric = {name: variances for name in results.metrics if (variances := pooled(results, name)) is not None}
    if not by_metric:
        text = "Nothing is known about the variance between seeds: that needs two seeds of a trained system at least."
        return [Paragraph(text)]
    seeds, articles, family = len(results.seeds), len(results.ids), family_of(results)
    points = _points(GAIN)
    rows = []
    for name, variances in by_metric.items():
        needed = _smallest(GAIN, variances, family)
        sds = (f"{SCALE * np.sqrt(value):.2f}" for value in (variances.seed, variances.article, variances.residual))
        reached = power(GAIN, variances, seeds, articles, family)
        shown = (f"{reached:.0%}", f"{SCALE * detectable(variances, seeds, articles, family):.2f}", needed)
        rows.append(tuple(map(Cell, (name, *sds, *shown))))
    header = ("metric", "SD of seeds", "of articles", "of the rest", f"power for {points}", f"shown with {TARGET:.0%}")
    note = f"Power of the verdict, {_verdict_of(family)}. SDs: {next(iter(by_metric.values())).source}, in points."
    caption = f"What {seeds} seeds and {articles:,} articles can show"
    return [Table(caption, (*header, f"enough for {points}"), tuple(rows), (note,))]


def plan_blocks(
    seeds: int, articles: int, variances: Variances, gain: float = GAIN, family: Family = SINGLE
) -> list[Block]:
    """What a planned comparison would show, and what fewer or more seeds and articles would; ``gain`` is raw."""
    counts = sorted({articles // 2, articles, 2 * articles, 4 * articles} - {0, 1})
    rows = [
        (
            Cell(f"{n}"),
            *(Cell(f"{power(gain, variances, n, m, family):.0%}", mark=(n, m) == (seeds, articles)) for m in counts),
        )
        for n in sorted({seeds, *PLANNED} - {1})
    ]
    header = ("seeds", *(f"{m:,} articles" for m in counts))
    caption = f"Power of the verdict for a gain of {_points(gain)}"
    verdict = _verdict_of(family)
    bold = " Bold: as planned." if seeds > 1 else ""
    note = f"{verdict[0].upper()}{verdict[1:]}. Variances: {variances.source}.{bold}"
    return [Paragraph(enough(seeds, articles, variances, gain, family)), Table(caption, header, tuple(rows), (note,))]


def enough(seeds: int, articles: int, variances: Variances, gain: float = GAIN, family: Family = SINGLE) -> str:
    """How many seeds show a gain (raw), in a sentence or two."""
    least, points = fewest_seeds(gain, variances, articles, family), _points(gain)
    needed = f"more than {MOST_SEEDS}" if least is None else f"{least.seeds}, which show it with {least.power:.0%}"
    if seeds < 2:
        seen = "One seed allows no verdict."
    else:
        reached, shown = power(gain, variances, seeds, articles, family), detectable(variances, seeds, articles, family)
        other = f"one of {SCALE * shown:.1f} points with {TARGET:.0%}"
        if shown > 1:  # more than most scores can rise
            other = f"even one of {SCALE:.0f} points with less than {TARGET:.0%}"
        seen = f"{seeds} seeds show a gain of {points} with a probability of {reached:.0%}, and {other}."
    fewest = f"Seeds needed for {points}: {needed}. The smallest design: {_smallest(gain, variances, family)}."
    return f"On {articles:,} articles: {seen} {fewest}"


def _verdict_of(family: Family) -> str:
    over = "over start and control" if family.opponents > 1 else "over one other system"
    corrected = f", after Holm's correction for {family.rewards} rewards" if family.rewards > 1 else ""
    return f"a reward called better {over}{corrected}, the others without a gain"


def to_values(results: Results) -> dict[str, dict[str, float | str]]:
    """Metric -> its pooled variances, as results.json holds them."""
    return {name: asdict(variances) for name in results.metrics if (variances := pooled(results, name)) is not None}


def read_variances(path: Path) -> dict[str, Variances]:
    """Metric -> variances, from results.json of an earlier comparison, its main way of decoding.

    Raises DesignError for another file, or one without variances.
    """
    fix = "give report/results.json of a comparison with two seeds or more"
    data = json_file(path, fix, DesignError)
    try:
        variances = {name: Variances(**values) for name, values in data[0]["variances"].items()}
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DesignError(f"{path}: no variances ({error}); {fix}") from error
    if not variances:
        raise DesignError(f"{path}: no variances; {fix}")
    return variances


def pilot_variances(path: Path | None) -> Variances:
    """Variances of an earlier comparison, of the metric by which a gain is hardest to show; without one, assumed."""
    if path is None:
        return DEFAULTS
    by_metric = read_variances(path)
    name = max(by_metric, key=lambda metric: detectable(by_metric[metric], *USUAL))
    return replace(by_metric[name], source=f"{name} in {path}, {by_metric[name].source}")


def _points(gain: float) -> str:
    return "1 point" if gain == GAIN else f"{SCALE * gain:g} points"


def _smallest(gain: float, variances: Variances, family: Family) -> str:
    design = smallest(gain, variances, family)
    return f"over {MOST_SEEDS} seeds" if design is None else f"{design.seeds} seeds, {design.articles:,} articles"


def _components(results: Results, metric: str) -> Iterator[Components]:
    """The components of each trained system's differences from the control, with two seeds or more."""
    base = results.base
    if base is None or metric not in base.metrics:
        return
    for system in results.trained:
        if metric in system.metrics:
            components = mean_difference(paired_table(system.metrics[metric], base.metrics[metric])).components
            if components.seeds > 1 and components.articles > 1:
                yield components


def estimates(components: Components) -> tuple[float, float, float]:
    """Variances of seeds, articles and the rest, which may be negative: unbiased, to be averaged."""
    residual = float(components.residual)
    seed = float(components.by_seed - residual) / components.articles
    return seed, float(components.by_article - residual) / components.seeds, residual
