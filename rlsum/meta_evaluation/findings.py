"""What a meta-evaluation says, in sentences, and no more than its tests carry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.significance import MetricTest
from rlsum.meta_evaluation.evaluation import MetaEvaluation, Result
from rlsum.meta_evaluation.grouped import AVERAGES, GroupedCorrelation

ALPHA = 0.05
FEW = 6  # pairs named one by one
OUTSIDE = (
    "the value lies outside its own interval, because resampling moves this statistic; "
    "the interval's width can be read, its place cannot"
)


def number(value: float) -> str:
    """A correlation with three digits; a dash where it is undefined."""
    return "\N{EN DASH}" if math.isnan(value) else f"{value:.3f}"


def told(test: MetricTest) -> str:
    """The verdict of one test: which metric is closer to people, that no difference was detected, or undefined."""
    if math.isnan(test.p_holm):
        return "undefined"
    if test.p_holm >= ALPHA:
        return "no difference detected"
    return f"{test.a if test.difference > 0 else test.b} is closer"


def findings(evaluation: MetaEvaluation) -> list[str]:
    """Sentences on each statistic: the best metric, length alone, the judges' ceiling, what could not be told apart."""
    return [sentence for result in evaluation.results for sentence in _of(evaluation, result)]


def material(evaluation: MetaEvaluation) -> list[str]:
    """What was evaluated and what was not: counts, nothing left unsaid."""
    table = evaluation.table
    inputs, systems, groups = len(set(table.inputs)), len(set(table.systems)), len(set(table.groups))
    lines = [f"{len(table):,} judged texts of {inputs:,} inputs by {systems:,} systems; human score {table.score!r}."]
    lines += [f"Left out: {count:,} {reason}." for reason, count in table.left_out.items()]
    for label, column in table.columns.items():
        lines += [f"{label}: {count:,} texts undefined: {why}." for why, count in column.undefined.items()]
    if groups > 1 and evaluation.choices.average is None:
        lines.append(f"The rows of {groups:,} groups are pooled; --by-group correlates within each and averages.")
    if evaluation.choices.average is not None:
        lines.append(
            f"Correlations are taken within {groups:,} groups; average: {AVERAGES[evaluation.choices.average]}."
        )
    lines += [f"Note: {note}." for note in table.notes]
    return lines


def warnings(evaluation: MetaEvaluation) -> list[str]:
    """What speaks against believing a test or an interval, with how often it applies, and every undefined value."""
    lines = []
    for result in evaluation.results:
        name = result.statistic
        for kind, tests in (("tests", result.tests), ("Williams' tests", result.williams)):
            doubts = Counter(text for test in tests for text in test.warnings)
            lines += [f"{name}, {count:,} of {len(tests):,} {kind}: {text}." for text, count in doubts.items()]
        lines += [
            f"{name} of {label}: {found.average.reason}."
            for label, found in result.correlations.items()
            if found.average.reason
        ]
        lines += [line for label, found in result.correlations.items() for line in _inputs_left_out(name, label, found)]
        outside = [label for label, found in result.correlations.items() if _outside(found.average)]
        lines += [f"{name} of {', '.join(outside)}: {OUTSIDE}."] if outside else []
        lines += [f"{name}, {test.a} against {test.b}: {test.reason}." for test in result.tests if test.reason]
        if result.ceiling is not None and result.ceiling.reason:
            lines.append(f"{name} of the judges: {result.ceiling.reason}.")
    if evaluation.alpha is not None and evaluation.alpha.reason:
        lines.append(f"Alpha of the judges: {evaluation.alpha.reason}.")
    return list(dict.fromkeys(lines))


def _inputs_left_out(name: str, label: str, found: GroupedCorrelation) -> list[str]:
    """How many inputs a correlation within inputs is made of, where some are no part of it."""
    parts = found.groups.values() if found.groups else [found.average]
    over, left_out = sum(each.over for each in parts), sum(each.left_out for each in parts)
    why = "a single text, or scores that do not vary"
    return [f"{name} of {label}: of {over:,} inputs; {left_out:,} left out ({why})."] if left_out else []


def _outside(found: Correlation) -> bool:
    return found.value < found.low or found.value > found.high


def _of(evaluation: MetaEvaluation, result: Result) -> list[str]:
    table, name = evaluation.table, f"{result.statistic} ({result.level})"
    values = {label: found.average.value for label, found in result.correlations.items()}
    metrics = {label: values[label] for label in table.metrics if not math.isnan(values[label])}
    if not metrics:
        return [f"{name}: undefined for every metric."]
    best = max(metrics, key=lambda label: metrics[label])
    lines = [f"{name}: {best} is highest at {number(metrics[best])}{_equals(best, table.metrics, result)}."]
    for length in table.lengths:
        if not math.isnan(values[length]):
            lines.append(_length(name, length, values[length], metrics, result))
    if result.ceiling is not None and not math.isnan(result.ceiling.value):
        beside = f"one judge against the mean of the others reaches {number(result.ceiling.value)}"
        lines.append(f"{name}: {beside}, {best} {number(metrics[best])}.")
    return [*lines, *_undetected(name, result)]


def _equals(best: str, metrics: Sequence[str], result: Result) -> str:
    alike = [
        test.b if test.a == best else test.a
        for test in result.tests
        if best in (test.a, test.b) and {test.a, test.b} <= set(metrics) and test.p_holm >= ALPHA
    ]
    return f"; no difference detected between it and {', '.join(alike)}" if alike else ""


def _length(name: str, length: str, value: float, metrics: dict[str, float], result: Result) -> str:
    """Length beside the metrics, with what the tests say of the difference."""
    below = [label for label, metric in metrics.items() if value > metric]
    proven = [
        test
        for test in result.tests
        if length in (test.a, test.b) and test.p_holm < ALPHA and (test.a if test.b == length else test.b) in metrics
    ]
    above = sum((test.difference > 0) == (test.a == length) for test in proven)
    shown = f"significantly above {above} and significantly below {len(proven) - above} of {len(metrics)} metrics"
    if len(below) == len(metrics):
        return f"{name}: {length} alone beats every metric, at {number(value)} ({shown})."
    if below:
        return f"{name}: {length} alone reaches {number(value)}, more than {', '.join(below)} ({shown})."
    return f"{name}: {length} alone reaches {number(value)}, less than every metric ({shown})."


def _undetected(name: str, result: Result) -> list[str]:
    defined = [test for test in result.tests if not math.isnan(test.p_holm)]
    alike = [f"{test.a} and {test.b}" for test in defined if test.p_holm >= ALPHA]
    if not defined:
        return []
    total = f"of {len(defined)} pairs {len(defined) - len(alike)} differ (p < {ALPHA} after Holm's correction)"
    if not alike:
        return [f"{name}: {total}."]
    listed = f": {'; '.join(alike)}" if len(alike) <= FEW else ", see the table of tests"
    return [f"{name}: {total}; no difference detected in {len(alike)}{listed}."]
