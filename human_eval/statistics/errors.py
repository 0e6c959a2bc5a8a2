"""Marked errors -> rates of systems, tests between them, and the agreement of judges on words.

A rate is the number of errors per 100 words of a summary, or whether it has any. Its mean over summaries and its
interval take items and judges as random (`human_eval.statistics.random_judges`), and so does the paired test of two
systems, which compares the two summaries that a judge saw together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from human_eval.marks import Category, Mark, length, words
from human_eval.statistics.random_judges import Layout
from human_eval.study import Pair
from human_eval.votes.votes import Floats, MarkedText, unknown
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha, with_interval
from rlsum.evaluation.statistics import USUAL, Uncertainty, holm

ALL = "all errors"
NAN = float("nan")
Value = Callable[[MarkedText], float]  # of a text; NaN if undefined
Shared = dict[tuple[str, str, str], dict[str, MarkedText]]  # item, comparison, system -> judge -> the text


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval ``low`` to ``high``, the test ``p`` that it is 0, and what it rests on.

    NaN if undefined; ``reason`` says why there is no interval.
    """

    value: float
    low: float
    high: float
    p: float
    items: int
    judges: int
    reason: str = ""


@dataclass(frozen=True)
class ErrorRate:
    """Errors of a category in the summaries of a system: ``rate`` per 100 words, ``share`` of summaries with any."""

    system: str
    category: str
    rate: Estimate
    share: Estimate


@dataclass(frozen=True)
class ErrorDifference:
    """Errors per 100 words of the second system of ``pair`` minus those of the first.

    ``p_holm``: after Holm's correction over the pairs for all errors, and over pairs and categories for the others; no
    smaller than p of the votes on errors for all errors, and than that of all errors for one category, so that the
    three families together claim as often as the first (a fixed sequence, Maurer et al. 1995).
    """

    pair: Pair
    category: str
    difference: Estimate
    p_holm: float


@dataclass(frozen=True)
class Errors:
    """All that is known of marked errors. ``agreement``: name -> agreement of judges on the same summary."""

    rates: tuple[ErrorRate, ...]
    differences: tuple[ErrorDifference, ...]
    agreement: dict[str, Agreement]


def errors(
    marked: Sequence[MarkedText],
    categories: Sequence[Category],
    pairs: Sequence[Pair],
    *,
    voted: Mapping[Pair, float],
    how: Uncertainty = USUAL,
) -> Errors:
    """The rates of all systems, the differences of all ``pairs`` and the agreement of judges. Seeded.

    ``voted``: p of the votes on errors, after Holm's correction.
    """
    names = [ALL, *(category.id for category in categories)]
    systems = list(dict.fromkeys(system for pair in pairs for system in pair))
    rates = [
        ErrorRate(system, name, _mean(of_system, _rate(name), how), _mean(of_system, _any(name), how, 1.0))
        for system in systems
        for name in names
        for of_system in [[row for row in marked if row.system == system]]
    ]
    tested = differences(marked, categories, pairs, voted, how)
    return Errors(tuple(rates), tuple(tested), agreement(marked, names[1:], how))


def differences(
    marked: Sequence[MarkedText],
    categories: Sequence[Category],
    pairs: Sequence[Pair],
    voted: Mapping[Pair, float],
    how: Uncertainty,
) -> list[ErrorDifference]:
    """The differences of all ``pairs``, of all errors and of each category, tested after what was ``voted``."""
    names = [ALL, *(category.id for category in categories)]
    rows = [
        ErrorDifference(pair, name, _difference(marked, pair, _rate(name), how), NAN)
        for name in names
        for pair in pairs
    ]
    adjusted: list[float] = []
    for family in (rows[: len(pairs)], rows[len(pairs) :]):
        before = [voted[pair] for pair in pairs] if not adjusted else adjusted[: len(pairs)]
        corrected = holm([row.difference.p for row in family])
        adjusted += np.maximum(corrected, np.resize(before, len(family))).tolist() if family else []
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def estimate(values: dict[tuple[str, str], list[float]], how: Uncertainty = USUAL) -> Estimate:
    """The mean of ``values`` of (item, judge), with equal weights for items, both random, and its interval."""
    defined = {cell: float(np.mean(numbers)) for cell, numbers in values.items() if not np.isnan(numbers).any()}
    if not defined:
        return Estimate(NAN, NAN, NAN, NAN, 0, 0, "no summary was judged")
    _, item = np.unique([item for item, _ in defined], return_inverse=True)
    _, judge = np.unique([judge for _, judge in defined], return_inverse=True)
    layout, means = Layout(item, judge), np.array(list(defined.values()))
    mean = float(means @ layout.weight)
    counts = layout.items, layout.judges
    if layout.judges < 2 or (refused := unknown(judge for _, judge in defined) or layout.refused):
        return Estimate(mean, NAN, NAN, NAN, *counts, "one judge" if layout.judges < 2 else refused)
    low, high, p, _ = layout.interval(means, level=how.level)
    if np.isnan(p):
        return Estimate(mean, NAN, NAN, NAN if mean else 1.0, *counts, "all values are equal")
    return Estimate(mean, low, high, p, *counts)


def agreement(
    marked: Sequence[MarkedText], categories: Sequence[str], how: Uncertainty = USUAL
) -> dict[str, Agreement]:
    """Agreement on the summaries that several judges marked; intervals resample items.

    F1 of two judges: characters that both marked, twice, over those that each marked, summed over summaries and pairs
    of judges; of one category, or of any. Krippendorff's alpha (nominal) of words: marked or not, and by the first
    category that a word has. Marks of whole summaries have no words and do not count.
    """
    by_text: Shared = defaultdict(dict)
    for row in marked:
        by_text[row.item, row.comparison, row.system].setdefault(row.judge, row)
    shared = {text: rows for text, rows in by_text.items() if len(rows) > 1}
    return {
        "F1, any category": _f1(shared, [None], how),
        "F1, same category": _f1(shared, list(categories), how),
        "alpha, marked words": _alpha(shared, lambda numbers: float(bool(numbers)), categories, how),
        "alpha, categories": _alpha(shared, lambda numbers: float(min(numbers, default=-1)), categories, how),
    }


def _counted(row: MarkedText, name: str) -> int:
    return sum(name in (ALL, mark.category) for mark in row.marks)


def _rate(name: str) -> Value:
    def value(row: MarkedText) -> float:
        size = length(row.text)
        return 100 * _counted(row, name) / size if size else NAN

    return value


def _any(name: str) -> Value:
    return lambda row: float(_counted(row, name) > 0)


def _mean(rows: Iterable[MarkedText], value: Value, how: Uncertainty, most: float = math.inf) -> Estimate:
    """The mean of a rate, whose interval ends at 0 and at ``most``."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        cells[row.item, row.judge].append(value(row))
    mean = estimate(cells, how)
    low, high = np.clip((mean.low, mean.high), 0.0, most).tolist()
    return replace(mean, low=low, high=high, p=NAN)


def _difference(marked: Sequence[MarkedText], pair: Pair, value: Value, how: Uncertainty) -> Estimate:
    sides: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in marked:
        if row.system in pair:
            sides[row.item, row.judge, row.task][row.system] = value(row)
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (item, judge, _), by_system in sides.items():
        if len(by_system) == 2:
            cells[item, judge].append(by_system[pair[1]] - by_system[pair[0]])
    return estimate(cells, how)


def _characters(marks: Iterable[Mark], category: str | None) -> set[int]:
    """The marked characters of a category, or of any."""
    kept = (mark for mark in marks if category in (None, mark.category))
    return {place for mark in kept for place in range(mark.start, mark.end)}


def _f1(shared: Shared, categories: Sequence[str | None], how: Uncertainty) -> Agreement:
    items = sorted({item for item, *_ in shared})
    unit = np.array([items.index(item) for item, *_ in shared], dtype=np.intp)
    shared_marks, sizes = np.zeros(len(items)), np.zeros(len(items))
    for number, rows in zip(unit, shared.values(), strict=True):
        for category in categories:
            marked = [_characters(row.marks, category) for row in rows.values()]
            for first, second in combinations(marked, 2):
                shared_marks[number] += 2 * len(first & second)
                sizes[number] += len(first) + len(second)
    judgments = sum(map(len, shared.values()))
    undefined = Agreement(NAN, NAN, NAN, len(shared), judgments)
    if not shared or not sizes.any():
        return replace(undefined, reason="nothing is marked" if shared else "no summary has two judges")

    def value(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ shared_marks) / (weights @ sizes)

    return with_interval(undefined, value, unit, len(items), how)


def _alpha(shared: Shared, code: Callable[[set[int]], float], categories: Sequence[str], how: Uncertainty) -> Agreement:
    """Krippendorff's alpha of the ``code`` of the numbers of the categories that each word has."""
    judges = sorted({judge for rows in shared.values() for judge in rows})
    matrix, items = [], []
    for (item, *_), rows in shared.items():
        for word in words(next(iter(rows.values())).text):
            line = np.full(len(judges), NAN)
            for judge, row in rows.items():
                on = {categories.index(m.category) for m in row.marks if m.start < word.end and m.end > word.start}
                line[judges.index(judge)] = code(on)
            matrix.append(line)
            items.append(item)
    if not matrix:
        return Agreement(NAN, NAN, NAN, 0, 0, "no summary has two judges")
    return krippendorff_alpha(np.array(matrix), scale="nominal", inputs=items, how=how)
