"""A meta-evaluation as tables: correlations, groups, and the tests as a matrix or a pair a row."""

from __future__ import annotations

import math
from collections.abc import Callable

from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.significance import MetricTest
from rlsum.meta_evaluation.evaluation import MetaEvaluation, Result
from rlsum.meta_evaluation.findings import ALPHA, number, told
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table, p_text

CEILING, AGREEMENT = "judges: one against the others", "judges: Krippendorff's alpha"
HOW = (
    "Beneath each value its 95% bootstrap interval, drawing whole inputs ({resamples:,} resamples, seed {seed}). "
    "Coverage: the share of the judged texts where the metric is defined."
)


def correlation_table(evaluation: MetaEvaluation) -> Table:
    """Metrics by statistics, best first by the first statistic; then length, then what the judges reach."""
    table, results = evaluation.table, evaluation.results
    metrics = sorted(table.metrics, key=_by(results[0]))
    tops = [_best(metrics, result) if len(metrics) > 1 else "" for result in results]
    rows = [
        (
            Cell(label),
            *(
                _cell(result.correlations[label].average, mark=label == top)
                for result, top in zip(results, tops, strict=True)
            ),
            Cell(f"{results[0].correlations[label].average.n:,}"),
            Cell(_percent(results[0].correlations[label].average.coverage)),
        )
        for label in (*metrics, *table.lengths)
    ]
    notes = [HOW.format(resamples=evaluation.choices.resamples, seed=evaluation.choices.seed), *_thresholds(evaluation)]
    if table.judges is not None:
        rows += _judge_rows(evaluation)
        who = "each judge" if table.judges.named else "each single judgment (nobody knows whose)"
        notes.append(
            f"Judges: {who} against the mean of the others, over all texts with two judgments or more, pooled."
        )
    header = ("", *(f"{result.statistic}, {_level(result, evaluation)}" for result in results), "n", "coverage")
    return Table(f"Agreement with people: {table.score}", header, tuple(rows), tuple(notes))


def group_table(evaluation: MetaEvaluation, result: Result) -> Table:
    """Groups by metrics, and beneath them the average."""
    labels = list(result.correlations)
    groups = list(result.correlations[labels[0]].groups)
    rows = [
        (
            Cell(group or "(no group)"),
            *(_cell(result.correlations[label].groups[group]) for label in labels),
            Cell(f"{max(result.correlations[label].groups[group].n for label in labels):,}"),
        )
        for group in groups
    ]
    total = max(result.correlations[label].average.n for label in labels)
    average = (Cell("average", mark=True), *(_cell(result.correlations[label].average) for label in labels))
    return Table(
        f"Within groups: {result.statistic}, {result.level}",
        ("group", *labels, "n"),
        (*rows, (*average, Cell(f"{total:,}"))),
    )


def matrix_table(result: Result) -> Table:
    """Every metric against every other: the difference, beneath it p after Holm's correction."""
    labels = list(result.correlations)
    found = {(test.a, test.b): test for test in result.tests}
    header = ("", *(f"({number})" for number in range(1, len(labels))))
    rows = tuple(
        (Cell(f"({place}) {row}"), *(_difference(found.get((column, row))) for column in labels[:-1]))
        for place, row in enumerate(labels, 1)
    )
    note = "Row less column. Bold: p < .05 after Holm's correction; elsewhere no difference is detected."
    return Table(f"Differences in {result.statistic}, {result.level}", header, rows, (note, *_how_tested(result)))


def pairs_table(result: Result) -> Table:
    """One pair a row: the difference, p and what it means; beside it Williams' p where papers would print it."""
    williams = {(test.a, test.b): test for test in result.williams}
    rows = tuple(
        (
            Cell(f"{test.a} against {test.b}"),
            Cell(f"{test.difference:+.3f}" if not math.isnan(test.difference) else UNDEFINED),
            Cell(p_text(test.p)),
            Cell(p_text(test.p_holm), mark=test.p_holm < ALPHA),
            *((Cell(p_text(williams[test.a, test.b].p_holm)),) if williams else ()),
            Cell(f"{test.n:,}"),
            Cell(told(test), test.reason, mark=test.p_holm < ALPHA),
        )
        for test in result.tests
    )
    header = ("pair", "difference", "p", "p (Holm)", *(["Williams' p (Holm)"] if williams else []), "n", "verdict")
    return Table(f"Tests of {result.statistic}, {result.level}", header, rows, tuple(_how_tested(result)))


def _how_tested(result: Result) -> list[str]:
    return list(dict.fromkeys(f"Two-tailed; {test.test}: {test.why}." for test in result.tests))


def _judge_rows(evaluation: MetaEvaluation) -> list[tuple[Cell, ...]]:
    alpha = evaluation.alpha
    ceilings = [result.ceiling for result in evaluation.results]
    known = next((each for each in ceilings if each is not None), alpha)
    n = Cell(f"{known.n:,}" if known else UNDEFINED)
    empty = [Cell(UNDEFINED)] * (len(evaluation.results) - 1)
    return [
        (Cell(CEILING), *(_agreement_cell(each) for each in ceilings), n, Cell("")),
        (Cell(AGREEMENT), _agreement_cell(alpha), *empty, Cell(f"{alpha.n:,}" if alpha else UNDEFINED), Cell("")),
    ]


def _thresholds(evaluation: MetaEvaluation) -> list[str]:
    return [
        f"{result.statistic}: {label} calls differences up to {found.average.epsilon:.3g} ties."
        for result in evaluation.results
        for label, found in result.correlations.items()
        if not math.isnan(found.average.epsilon)
    ]


def _level(result: Result, evaluation: MetaEvaluation) -> str:
    return result.level if evaluation.choices.average is None else f"{result.level}, average of groups"


def _by(result: Result) -> Callable[[str], float]:
    def falling(label: str) -> float:
        value = result.correlations[label].average.value
        return math.inf if math.isnan(value) else -value

    return falling


def _best(metrics: list[str], result: Result) -> str:
    return min(metrics, key=_by(result), default="")


def _cell(found: Correlation, mark: bool = False) -> Cell:
    if math.isnan(found.value):
        return Cell(UNDEFINED)
    return Cell(number(found.value), _interval(found.low, found.high), mark)


def _agreement_cell(found: Agreement | None) -> Cell:
    if found is None or math.isnan(found.value):
        return Cell(UNDEFINED)
    return Cell(number(found.value), _interval(found.low, found.high))


def _interval(low: float, high: float) -> str:
    if math.isnan(low):
        return "no interval"
    return f"{number(low)} to {number(high)}" if low < 0 else f"{number(low)}{DASH}{number(high)}"


def _difference(test: MetricTest | None) -> Cell:
    """The matrix has row less column, the test column less row."""
    if test is None:
        return Cell("")
    if math.isnan(test.difference):
        return Cell(UNDEFINED)
    return Cell(f"{0.0 - test.difference:+.3f}", f"p {p_text(test.p_holm)}", test.p_holm < ALPHA)


def _percent(share: float) -> str:
    """Rounded down, so that 100% means all."""
    return UNDEFINED if math.isnan(share) else f"{math.floor(share * 1000) / 10:g}%"
