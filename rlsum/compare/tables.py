"""The tables of a comparison. Scores are shown times 100, and a mean always with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlsum.compare.cells import NONE, START
from rlsum.compare.results import Contrast, Results, adjusted, best, compare, metric_means, property_means
from rlsum.evaluation.trained.verdicts import ALPHA, Word, verdict
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, interval_cell, p_text, text_table
from rlsum.scoring.tables import property_table

HOLM = f"Marked: different after Holm's correction for all tests of the table (p <= {ALPHA})."


def cross_table(results: Results) -> Table:
    """Rows trained on, columns evaluated by. The best is marked where it differs from every other row."""
    metrics = results.metrics
    absent = [name for name in results.missing if name not in metrics]
    tops = {metric: best(results, metric) for metric in metrics}
    rows = []
    for system in results.systems.values():
        cells, means = [Cell(system.title)], metric_means(results, system)
        for metric in metrics:
            if metric not in means:
                cells.append(Cell(UNDEFINED))
                continue
            top = tops[metric]
            alone = top is not None and top.shown and top.best == system.name
            cell = interval_cell(means[metric], SCALE, 2, alone)
            tied = top is not None and bool(top.tied) and system.name in (top.best, *top.tied)
            cells.append(Cell(cell.text, f"{cell.detail}, tied" if tied else cell.detail, cell.mark))
        rows.append((*cells, *(Cell("missing") for _ in absent)))
    note = (
        "Rows are what a model was trained on, columns what it is evaluated by. Bold: the best row of its column where "
        "it differs from every other; tied: not shown to differ from the best (Holm within the column). Outputs of "
        "other systems do not compete."
    )
    reasons = tuple(f"{name}: {results.missing[name]}" for name in absent)
    caption = f"Every system by every metric, x {SCALE}"
    return Table(caption, ("trained on", *metrics, *absent), tuple(rows), (note, *reasons))


def verdict_table(results: Results, margin: float | None = None) -> Table:
    """Each trained system on its own reward, against the start and against continued likelihood."""
    rows, others = [], [other for other in (START, NONE) if other in results.systems]
    for pair in own_reward(results).values():
        system = results.systems[pair[0].system]
        tests = [next((test for test in pair if test.other == other), None) for other in others]
        gains = [cell for test in tests for cell in (gain_cell(test), p_cell(test))]
        word = weakest(pair, margin)
        rows.append((Cell(system.title), Cell(pair[0].metric), *gains, Cell(word, mark=word in ("better", "worse"))))
    titles = [results.systems[other].title for other in others]
    header = ("system", "trained on", *(name for title in titles for name in (f"gain over {title}", "p")), "verdict")
    note = (
        f"Each system on the reward that it was trained on, x {SCALE}, paired by seed and article. Better: above all, "
        f"each with p <= {ALPHA} after Holm's correction for the tests of this table."
    )
    less = (
        () if margin is None else (f"No worse: a loss of {margin * SCALE:g} points or more is ruled out (one-sided).",)
    )
    return Table("Did the reward help?", header, tuple(rows), (note, *less))


def own_reward(results: Results) -> dict[str, list[Contrast]]:
    """System -> its contrasts with start and control on its own reward; all of them are one family."""
    others = [results.systems[other] for other in (START, NONE) if other in results.systems]
    family = adjusted(
        compare(system, other, system.reward)
        for system in results.trained
        for other in others
        if system.reward is not None and system.reward in system.metrics and system.reward in other.metrics
    )
    found: dict[str, list[Contrast]] = {}
    for test in family:
        found.setdefault(test.system, []).append(test)
    return found


def weakest(tests: Sequence[Contrast], margin: float | None = None) -> Word:
    """As strong as the weakest of the verdicts; worse than any is worse."""
    words = [verdict(test.difference, margin=margin).word for test in tests]
    order: tuple[Word, ...] = ("worse", "unknown", "no difference shown", "no worse", "better")
    return min(words, key=order.index)


def difference_table(results: Results, other: str) -> Table:
    """Every competing row minus ``other``, by every metric."""
    metrics = results.metrics
    found = {(test.system, test.metric): test for test in results.against[other]}
    rows = tuple(
        (Cell(system.title), *(gain_cell(found.get((system.name, metric))) for metric in metrics))
        for system in results.compared
        if system.name != other
    )
    title = results.systems[other].title
    return Table(f"Difference from {title}, x {SCALE}", ("system", *metrics), rows, (HOLM,))


def gain_cell(test: Contrast | None) -> Cell:
    """A signed difference with its interval, marked where the two differ."""
    if test is None:
        return Cell(UNDEFINED)
    found = test.difference
    return difference_cell(SCALE * found.mean, SCALE * found.low, SCALE * found.high, mark=test.shown)


def p_cell(test: Contrast | None) -> Cell:
    """A p-value, with the adjusted one beneath."""
    if test is None:  # one of the two has no scores
        return Cell(UNDEFINED)
    return Cell(p_text(test.difference.p), f"Holm {p_text(test.difference.p_holm)}")


def properties(results: Results) -> Table:
    """Length, repetition, novelty, copying and invented names of every row."""
    rows = {system.title: property_means(system) for system in results.systems.values()}
    warning = "A longer summary can score higher by its length alone: compare the lengths, too."
    return property_table(rows, "Properties of the summaries", [warning])


def costs(runs: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]]) -> Table:
    """What the training of each row took, from the logs of its seeds: the mean over them."""
    rows = []
    for title, logs in runs.items():
        *means, share = np.mean([_cost(log) for log in logs], axis=0)
        numbers = (f"{value:,.{digits}f}" for value, digits in zip(means, (0, 2, 1, 0), strict=True))
        rows.append((title, *numbers, UNDEFINED if math.isnan(share) else f"{SCALE * share:.0f}"))
    note = "Without validation. Rows of equal updates differ by what their samples and rewards cost."
    columns = ("system", "updates", "seconds an update", "minutes", "tokens a second", "reward, % of the time")
    return text_table("Cost", columns, rows, [note])


def _cost(rows: Sequence[Mapping[str, Any]]) -> tuple[float, ...]:
    """Updates, seconds an update, minutes, tokens a second, and the reward's share of the seconds of a run."""
    lines = [row for row in rows if row.get("kind") == "train" and row.get("updates_per_second")]
    if not lines:
        return (0.0, math.nan, math.nan, math.nan, math.nan)
    steps = np.diff([0, *(row["step"] for row in lines)])  # updates that a line sums up
    seconds = float(np.sum(steps / [row["updates_per_second"] for row in lines]))
    tokens = float(np.average([row.get("tokens_per_second") or math.nan for row in lines], weights=steps))
    share = float(np.average([row.get("reward_share") or math.nan for row in lines], weights=steps))
    return (float(steps.sum()), seconds / steps.sum(), seconds / 60, tokens, share)


def failures(results: Results) -> Table:
    """The cells without outputs, and why."""
    rows = ((name, " ".join(why.split())) for name, why in results.failed.items())
    return text_table("Cells without a result", ("cell", "reason"), rows)
