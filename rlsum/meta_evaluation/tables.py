"""A meta-evaluation as tables: correlations, groups, and the tests as a matrix or a pair a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.population import MEANING
from rlsum.evaluation.significance import MetricTest
from rlsum.evaluation.statistics import Random
from rlsum.meta_evaluation.evaluation import CORRECTION, Result, Results
from rlsum.meta_evaluation.findings import corrected, number, verdict
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table, joined, p_text

CEILING, AGREEMENT = "judges: one against the others", "judges: Krippendorff's alpha"
COVERAGE = "Coverage: the share of the judged texts for which the metric is defined."


def correlation_table(evaluation: Results) -> Table:
    """Metrics by statistics, best first by the first statistic; then lengths; then agreement of the judges."""
    table, results, choices = evaluation.table, evaluation.results, evaluation.choices
    metrics = sorted(table.metrics, key=_falling(results[0]))
    rows = []
    for label in (*metrics, *table.lengths):
        values = [result.correlations[label].average for result in results]
        rows.append((Cell(label), *map(_cell, values), Cell(f"{values[0].n:,}"), Cell(_percent(values[0].coverage))))
    rows += _judge_rows(evaluation) if table.judges is not None else []
    notes = [*_intervals(evaluation), *_bold(rows, results[0]), COVERAGE, *_thresholds(evaluation)]
    notes += _about_judges(evaluation)
    suffix = "" if choices.average is None else ", average of groups"
    header = ("", *(f"{result.statistic}, {result.level}{suffix}" for result in results), "n", "coverage")
    return Table(f"Agreement with people: {table.score}", header, tuple(rows), tuple(notes))


def _about_judges(evaluation: Results) -> list[str]:
    """What the rows of the judges are."""
    judges = evaluation.table.judges
    if judges is None:
        return []
    judge = "each judge" if judges.named else "each single judgment (judges are anonymous)"
    texts = "all texts with at least two judgments, pooled"
    texts += "" if evaluation.choices.average is None else " within groups and averaged; alpha over all groups"
    lines = [f"Judges: {judge} against the mean of the others; {texts}."]
    agreements = (evaluation.alpha, *(result.ceiling for result in evaluation.results))
    if any(agreement is not None and not math.isnan(agreement.low) for agreement in agreements):
        lines.append(f"Their intervals are for new inputs ({_bootstrap(evaluation)}).")
    return lines


def _intervals(evaluation: Results) -> list[str]:
    """Of each population: how its intervals were made, and what they are for."""
    names: dict[Random, list[str]] = {}
    for result in evaluation.results:
        if any(not math.isnan(grouped.average.low) for grouped in result.correlations.values()):
            names.setdefault(result.random, []).append(result.statistic)
    interval, lines = _interval(evaluation.results[0]), []
    for random, statistics in names.items():
        whose = "" if len(names) == 1 else f" of {', '.join(statistics)}"
        how = "clustered by inputs"
        if drawn := [name for name in statistics if named(name).influence is None]:
            how += f"; {joined(drawn)}: {_bootstrap(evaluation)}"
        if random != "inputs":
            how = "over systems" if evaluation.choices.level == "system" else "clustered by systems and by inputs"
        lines.append(f"Beneath each metric's value{whose}: its {interval} for {MEANING[random]} ({how}).")
    return lines


def _bootstrap(evaluation: Results) -> str:
    choices = evaluation.choices
    return f"bootstrap over inputs, {choices.resamples:,} resamples, seed {choices.seed}"


def group_table(result: Result) -> Table:
    """Groups by metrics, and beneath them the average."""
    labels = list(result.correlations)
    groups = list(result.correlations[labels[0]].groups)

    def row(name: Cell, correlations: list[Correlation]) -> tuple[Cell, ...]:
        return (name, *map(_cell, correlations), Cell(f"{max(correlation.n for correlation in correlations):,}"))

    rows = [
        row(Cell(group or "(no group)"), [result.correlations[label].groups[group] for label in labels])
        for group in groups
    ]
    rows.append(row(Cell("average"), [result.correlations[label].average for label in labels]))
    header, notes = ("group", *labels, "n"), tuple(_bold(rows, result))
    return Table(f"Within groups: {result.statistic}, {result.level}", header, tuple(rows), notes)


def matrix_table(result: Result) -> Table:
    """Every metric against every other: the difference, beneath it the corrected p."""
    labels = list(result.correlations)
    tests = {(test.a, test.b): test for test in result.tests}
    header = ("", *(f"({number})" for number in range(1, len(labels))))
    rows = tuple(
        (Cell(f"({number}) {row}"), *(_difference(result, tests.get((column, row))) for column in labels[:-1]))
        for number, row in enumerate(labels, 1)
    )
    notes = _notes(result, "Row minus column. ")
    return Table(f"Differences in {result.statistic}, {result.level}", header, rows, notes)


def pairs_table(result: Result) -> Table:
    """One pair a row: the difference, p and the verdict."""
    rows = tuple(
        (
            Cell(f"{test.a} against {test.b}"),
            Cell(f"{test.difference:+.3f}" if not math.isnan(test.difference) else UNDEFINED),
            Cell(p_text(test.p)),
            Cell(p_text(test.p_holm), mark=result.detected(test)),
            Cell(f"{test.n:,}"),
            Cell(verdict(result, test), test.reason, mark=result.detected(test)),
        )
        for test in result.tests
    )
    header = ("pair", "difference", "p", f"p ({CORRECTION})", "n", "verdict")
    return Table(f"Tests of {result.statistic}, {result.level}", header, rows, _notes(result))


def _notes(result: Result, differences: str = "") -> tuple[str, ...]:
    """What tables of tests show, and how tests were made."""
    bold = f"Bold: {corrected(result)}. Not bold: no difference detected; {DASH}: not tested."
    return differences + bold, *dict.fromkeys(f"Two-tailed; {test.test}: {test.why}." for test in result.tests)


def _judge_rows(evaluation: Results) -> list[tuple[Cell, ...]]:
    alpha = evaluation.alpha
    ceilings = [result.ceiling for result in evaluation.results]
    first = next((ceiling for ceiling in ceilings if ceiling is not None), alpha)
    n = [Cell(f"{agreement.n:,}" if agreement else UNDEFINED) for agreement in (first, alpha)]
    empty = [Cell(UNDEFINED)] * (len(ceilings) - 1)
    return [
        (Cell(CEILING), *map(_cell, ceilings), n[0], Cell("")),
        (Cell(AGREEMENT), _cell(alpha), *empty, n[1], Cell("")),
    ]


def _thresholds(evaluation: Results) -> list[str]:
    return [
        f"{result.statistic}: differences of {label} up to {grouped.average.epsilon:.3g} count as ties."
        for result in evaluation.results
        for label, grouped in result.correlations.items()
        if not math.isnan(grouped.average.epsilon)
    ]


def _falling(result: Result) -> Callable[[str], float]:
    """A sorting key of labels: the highest correlation first, undefined ones last."""

    def key(label: str) -> float:
        value = result.correlations[label].average.value
        return math.inf if math.isnan(value) else -value

    return key


def _bold(rows: Iterable[Sequence[Cell]], result: Result) -> list[str]:
    """What bold means, where an interval is."""
    bold = any(cell.mark for row in rows for cell in row)
    return [f"Bold: the {_interval(result)} does not include 0 (accuracies are never bold)."] if bold else []


def _interval(result: Result) -> str:
    return f"{1 - result.significance:.0%} interval"


def _cell(estimate: Correlation | Agreement | None) -> Cell:
    """A value and its interval, bold where that excludes 0: no agreement (of accuracies, .5 is none)."""
    if estimate is None or math.isnan(estimate.value):
        return Cell(UNDEFINED)
    accuracy = isinstance(estimate, Correlation) and named(estimate.statistic).accuracy
    mark = (estimate.low > 0 or estimate.high < 0) and not accuracy
    low, high = number(estimate.low), number(estimate.high)
    shown = f"{low} to {high}" if estimate.low < 0 else f"{low}{DASH}{high}"
    return Cell(number(estimate.value), "no interval" if math.isnan(estimate.low) else shown, mark)


def _difference(result: Result, test: MetricTest | None) -> Cell:
    """The matrix shows row minus column, the test holds column minus row."""
    if test is None:
        return Cell("")
    if math.isnan(test.difference):
        return Cell(UNDEFINED)
    return Cell(f"{0.0 - test.difference:+.3f}", f"p {p_text(test.p_holm)}", result.detected(test))


def _percent(share: float) -> str:
    """Rounded down, so that 100% means all."""
    return UNDEFINED if math.isnan(share) else f"{math.floor(share * 1000) / 10:g}%"
