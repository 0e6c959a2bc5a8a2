"""The tables of a comparison. Scores are shown times 100, and a mean always with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlsum.compare.cells import NONE, START
from rlsum.compare.results import Contrast, Results, System, best, compare, metric_means, property_means
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA
from rlsum.evaluation.trained.verdicts import Verdict, verdicts
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, interval_cell, joined, p_text, text_table
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


def verdict_table(results: Results, margin: float | None = None) -> Table:
    """Each trained system on its own reward, against the start and against continued likelihood."""
    rows, others = [], opponents(results)
    for name, outcome in own_reward(results, margin).items():
        tests = {test.other: test for test in outcome.tests}
        gains = [
            cell
            for test in (tests.get(opponent.name) for opponent in others)
            for cell in (gain_cell(test), Cell(UNDEFINED if test is None else p_text(test.difference.p)))
        ]
        detail = outcome.decisive.partial if np.isnan(outcome.verdict.p) else f"Holm p {p_text(outcome.verdict.p)}"
        word = Cell(outcome.words(margin), detail, mark=outcome.verdict.word in ("better", "worse"))
        rows.append((Cell(results.systems[name].title), Cell(outcome.decisive.metric), *gains, word))
    header = (
        "system",
        "trained on",
        *(name for opponent in others for name in (f"gain over {opponent.title}", "p")),
        "verdict",
    )
    note = (
        f"Each system on the reward that it was trained on, x {SCALE}, paired by seed and article. Better: above "
        f"{joined([opponent.title for opponent in others])}, p <= {ALPHA} after Holm's correction for the rows; worse: "
        "below one of them, corrected for all tests of the table. Bold: such a verdict; p beside a gain is not "
        "corrected."
    )
    single_seed = "With one seed a p-value is about these models: it allows no verdict about what they were trained on."
    ruled_out = f"A loss of {(margin or 0) * SCALE:g} points or more is ruled out: one-sided, Holm's correction, too."
    notes = (note, *([single_seed] if len(results.seeds) < 2 else []), *([ruled_out] if margin is not None else []))
    return Table("Did the reward help?", header, tuple(rows), notes)


@dataclass(frozen=True)
class OwnReward:
    """A trained system on its own reward: its tests against start and control, and what they say together."""

    tests: tuple[Contrast, ...]
    verdict: Verdict

    @property
    def decisive(self) -> Contrast:
        """The test that decides."""
        return self.tests[self.verdict.decisive]

    def words(self, margin: float | None) -> str:
        """The verdict in words; "no worse" with its margin, in points."""
        word = self.verdict.word
        return f"loses less than {(margin or 0) * SCALE:g} points" if word == "no worse" else word


def opponents(results: Results) -> list[System]:
    """What a trained system must be better than: the start and continued likelihood, where they have scores."""
    return [results.systems[name] for name in (START, NONE) if name in results.systems]


def own_reward(results: Results, margin: float | None = None) -> dict[str, OwnReward]:
    """System -> its tests against start and control on its own reward; those of all systems are one family."""
    tests_of: dict[str, tuple[Contrast, ...]] = {}
    for system in results.trained:
        reward = system.reward
        if reward in system.metrics and (others := [row for row in opponents(results) if reward in row.metrics]):
            tests_of[system.name] = tuple(compare(system, row, str(reward)) for row in others)
    judgments = verdicts([[test.judged for test in tests] for tests in tests_of.values()], margin=margin)
    return {name: OwnReward(tests, verdict) for (name, tests), verdict in zip(tests_of.items(), judgments, strict=True)}


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
    mean, low, high = (SCALE * value for value in (test.difference.mean, test.difference.low, test.difference.high))
    corrected = not math.isnan(test.difference.p_holm)
    return difference_cell(mean, low, high, mark=test.shown and corrected, note=test.partial)


def properties(results: Results) -> Table:
    """Length, repetition, novelty, copying and invented names of every row."""
    rows = {system.title: property_means(system) for system in results.systems.values()}
    warning = "A longer summary can score higher by its length alone: compare the lengths, too."
    return property_table(rows, "Properties of the summaries", [warning])


def failures(results: Results) -> Table:
    """The cells without outputs, and why."""
    rows = ((name, " ".join(why.split())) for name, why in results.failed.items())
    return text_table("Cells without a result", ("cell", "reason"), rows)
