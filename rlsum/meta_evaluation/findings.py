"""The findings of a meta-evaluation as sentences, no stronger than its tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from rlsum.errors import option
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.population import counted
from rlsum.evaluation.significance import MetricTest
from rlsum.meta_evaluation.choices import AVERAGES
from rlsum.meta_evaluation.evaluation import CORRECTION, Result, Results
from rlsum.meta_evaluation.grouped import GroupedCorrelation
from rlsum.pages.table import joined

FEW = 6  # most pairs that a sentence lists
OUTSIDE = (
    "the value is outside its interval, because resampling shifts this statistic; "
    "the width of the interval is meaningful, its position is not"
)


def number(value: float) -> str:
    """A correlation with three digits; a dash where it is undefined."""
    return "\N{EN DASH}" if math.isnan(value) else f"{value:z.3f}"


def corrected(result: Result) -> str:
    """What a detected difference has: ``p < 0.05 after Holm's correction``."""
    return f"p < {result.significance} after {CORRECTION}'s correction"


def verdict(result: Result, test: MetricTest) -> str:
    """The verdict of a test: which metric is closer to people, that no difference was detected, or undefined."""
    if math.isnan(test.p_holm):
        return "undefined"
    if not result.detected(test):
        return "no difference detected"
    return f"{test.a if test.difference > 0 else test.b} is closer"


def findings(evaluation: Results) -> list[str]:
    """Sentences on each statistic: the best metric, length alone, the judges' ceiling, undetected differences."""
    return [sentence for result in evaluation.results for sentence in _result(evaluation, result)]


def material(evaluation: Results) -> list[str]:
    """Counts of what was evaluated, left out or undefined, with reasons."""
    table = evaluation.table
    inputs, systems, groups = len(set(table.inputs)), len(set(table.systems)), len(set(table.groups))
    texts, origin = counted(len(table), "judged text"), f"{counted(inputs, 'input')} by {counted(systems, 'system')}"
    lines = [f"{texts} of {origin}; human score {table.score!r}."]
    lines += [f"Left out: {count:,} {reason}." for reason, count in table.left_out.items()]
    for label, column in table.columns.items():
        lines += [f"{label}: {counted(count, 'text')} undefined: {why}." for why, count in column.undefined.items()]
    if groups > 1 and evaluation.choices.average is None:
        within = option("average", "groups", "--by-group")
        lines.append(f"The rows of {groups:,} groups are pooled; {within} correlates within each group and averages.")
    if evaluation.choices.average is not None:
        average = AVERAGES[evaluation.choices.average]
        lines.append(f"Correlations are computed within {counted(groups, 'group')}; average: {average}.")
    lines += [f"Note: {note}." for note in table.notes]
    return lines


def warnings(evaluation: Results) -> list[str]:
    """Doubts about tests and intervals, with how often they apply, and the reason of every undefined value.

    What holds for several statistics is said once.
    """
    statistics: dict[str, list[str]] = {}
    for result in evaluation.results:
        for doubt in dict.fromkeys(_doubts(result)):
            statistics.setdefault(doubt, []).append(result.statistic)
    lines = [f"{joined(names)}{doubt}" for doubt, names in statistics.items()]
    if evaluation.alpha is not None and evaluation.alpha.reason:
        lines.append(f"Alpha of the judges: {evaluation.alpha.reason}.")
    return lines


def _doubts(result: Result) -> list[str]:
    """The warnings of a statistic, to follow its name."""
    counts = Counter(text for test in result.tests for text in test.warnings)
    lines = [f", {count:,} of {len(result.tests):,} tests: {text}." for text, count in counts.items()]
    averages = {label: grouped.average for label, grouped in result.correlations.items()}
    lines += _by_reason(" of", {label: average.reason for label, average in averages.items()})
    for label, grouped in result.correlations.items():
        lines += _inputs_left_out(label, grouped)
    outside = [label for label, it in averages.items() if it.value < it.low or it.value > it.high]
    lines += [f" of {', '.join(outside)}: {OUTSIDE}."] if outside else []
    lines += _by_reason(",", {f"{test.a} against {test.b}": test.reason for test in result.tests})
    if result.ceiling is not None and result.ceiling.reason:
        lines.append(f" of the judges: {result.ceiling.reason}.")
    return lines


def _by_reason(start: str, reasons: Mapping[str, str]) -> list[str]:
    """A sentence for each reason, with what it is the reason of unless that is everything."""
    named: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        named.setdefault(reason, []).append(name)
    named.pop("", None)
    lines = []
    for reason, names in named.items():
        subject = f"{start} {_listed(names, len(reasons))}" if len(names) < len(reasons) else ""
        lines.append(f"{subject}: {reason}.")
    return lines


def _listed(names: Sequence[str], total: int) -> str:
    return joined(names) if len(names) <= FEW else f"{len(names)} of {total}"


def _inputs_left_out(label: str, grouped: GroupedCorrelation) -> list[str]:
    """How many inputs a correlation within inputs averages, where some are left out."""
    correlations = grouped.groups.values() if grouped.groups else [grouped.average]
    over, left_out = (
        sum(correlation.over for correlation in correlations),
        sum(correlation.left_out for correlation in correlations),
    )
    why = "a single text, or scores that do not vary"
    if not left_out or not over:
        return []
    return [f" of {label}: the mean of {counted(over, 'input')}; {left_out:,} left out ({why})."]


def _result(evaluation: Results, result: Result) -> list[str]:
    table, name = evaluation.table, f"{result.statistic} ({result.level})"
    estimates = {label: grouped.average for label, grouped in result.correlations.items()}
    metrics = {label: estimates[label] for label in table.metrics if not math.isnan(estimates[label].value)}
    if not metrics:
        return [f"{name}: undefined for every metric."]
    best, top = _best(metrics)
    lines = [f"{name}: {_highest(table.metrics, metrics, result)}."]
    for length in table.lengths:
        if not math.isnan(estimates[length].value):
            lines.append(f"{name}: {_length(length, estimates[length].value, metrics, result)}.")
    if result.ceiling is not None and not math.isnan(result.ceiling.value):
        over = "" if result.level == "pooled" else " over texts, pooled"
        judge = f"one judge against the mean of the others reaches {number(result.ceiling.value)}{over}"
        lines.append(f"{name}: {judge}, {joined(best)} {top}.")
    return [*lines, *_differences(name, result)]


def _best(metrics: Mapping[str, Correlation]) -> tuple[list[str], str]:
    """The metrics whose printed value is the highest, and that value."""
    top = number(max(correlation.value for correlation in metrics.values()))
    return [label for label, correlation in metrics.items() if number(correlation.value) == top], top


def _highest(labels: Sequence[str], metrics: Mapping[str, Correlation], result: Result) -> str:
    best, top = _best(metrics)
    if len(metrics) == 1:
        sentence = f"{best[0]} reaches {top}"
    elif len(best) == 1:
        sentence = f"{best[0]} is highest at {top}{_equals(best[0], list(metrics), result)}"
    else:
        sentence = f"{joined(best)} {'all ' if len(best) == len(metrics) > 2 else ''}reach {top}"
        sentence += "" if len(best) == len(metrics) else ", the highest value"
    if not named(result.statistic).accuracy:
        highest = [metrics[label] for label in best]
        if all(correlation.value < 0 for correlation in highest):
            sentence += "; a value below 0 is disagreement with people"
        if all(correlation.low <= 0 <= correlation.high for correlation in highest):
            sentence += f"; {'its interval includes' if len(best) == 1 else 'their intervals include'} 0"
    undefined = [label for label in labels if label not in metrics]
    return sentence + (f"; {joined(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined" if undefined else "")


def _equals(best: str, metrics: Sequence[str], result: Result) -> str:
    undetected = [
        test.b if test.a == best else test.a
        for test in _tested(result)
        if best in (test.a, test.b) and {test.a, test.b} <= set(metrics) and not result.detected(test)
    ]
    return f"; no difference detected between it and {_listed(undetected, len(metrics))}" if undetected else ""


def _length(length: str, value: float, metrics: Mapping[str, Correlation], result: Result) -> str:
    """Length against the metrics: their printed values, and the verdicts of the tests."""
    places: dict[str, list[str]] = {"more than": [], "as much as": [], "less than": []}
    for label, correlation in metrics.items():
        more = float(number(value)) - float(number(correlation.value))
        places["more than" if more > 0 else "less than" if more < 0 else "as much as"].append(label)
    verdicts: dict[str, list[str]] = {"significantly more than": [], "significantly less than": []}
    tests = [test for test in _tested(result) if length in (test.a, test.b) and {test.a, test.b} <= {length, *metrics}]
    for test in tests:
        if result.detected(test):
            more = (test.difference > 0) == (test.a == length)
            verdicts[f"significantly {'more' if more else 'less'} than"].append(test.b if test.a == length else test.a)
    sentence = f"{length} alone reaches {number(value)}, {_compared(places, len(metrics))}"
    if any(verdicts.values()):
        return f"{sentence}; {_compared(verdicts, len(metrics))}"
    return sentence + ("; no difference detected" if tests else "; not tested")


def _tested(result: Result) -> list[MetricTest]:
    return [test for test in result.tests if not math.isnan(test.p_holm)]


def _compared(places: Mapping[str, Sequence[str]], total: int) -> str:
    """``more than a and b, less than c``."""
    every = "every metric" if total > 1 else ""
    shown = ((place, labels) for place, labels in places.items() if labels)
    return ", ".join(
        f"{place} {every if every and len(labels) == total else _listed(labels, total)}" for place, labels in shown
    )


def _differences(name: str, result: Result) -> list[str]:
    """How many of the tests detect a difference, lengths included, and which do not."""
    tested = _tested(result)
    undetected = [f"{test.a} and {test.b}" for test in tested if not result.detected(test)]
    if not tested:
        return []
    pairs = counted(len(tested), "tested pair")
    sentence = f"a difference is detected in {len(tested) - len(undetected):,} of {pairs} ({corrected(result)})"
    if not undetected:
        return [f"{name}: {sentence}."]
    listed = "; ".join(undetected) if len(undetected) <= FEW else "see the table of tests"
    return [f"{name}: {sentence}; in {len(undetected):,} none: {listed}."]
