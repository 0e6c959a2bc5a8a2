"""A meta-evaluation as data: JSON, and rows for CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rlsum.meta_evaluation.evaluation import Results
from rlsum.meta_evaluation.findings import findings, verdict, warnings
from rlsum.records import finite


def to_json(evaluation: Results) -> str:
    """Everything but the scores of single texts; what is undefined is null."""
    table = evaluation.table
    data = {
        "data": table.name,
        "score": table.score,
        "texts": len(table),
        "inputs": len(set(table.inputs)),
        "systems": len(set(table.systems)),
        "groups": sorted(set(table.groups)),
        "left_out": dict(table.left_out),
        "notes": list(table.notes),
        "choices": asdict(evaluation.choices),
        "columns": {
            label: {"kind": column.kind, "signature": column.signature, "undefined": dict(column.undefined)}
            for label, column in table.columns.items()
        },
        "results": [
            {
                "statistic": result.statistic,
                "level": result.level,
                "random": result.random,
                "correlations": {label: asdict(value) for label, value in result.correlations.items()},
                "ceiling": asdict(result.ceiling) if result.ceiling else None,
                "tests": [{**asdict(test), "verdict": verdict(test)} for test in result.tests],
            }
            for result in evaluation.results
        ],
        "alpha": asdict(evaluation.alpha) if evaluation.alpha else None,
        "findings": findings(evaluation),
        "warnings": warnings(evaluation),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def correlation_rows(evaluation: Results) -> Iterator[Sequence[Any]]:
    """A correlation a line: metrics, lengths and judges, each group and the whole."""
    fields = ("value", "low", "high", "n", "coverage", "over", "left_out", "epsilon", "reason")
    whole = "" if evaluation.choices.average is None else f"average of {evaluation.choices.average}"
    yield ("label", "kind", "statistic", "level", "group", *fields)
    for result in evaluation.results:
        for label, grouped in result.correlations.items():
            kind = evaluation.table.columns[label].kind
            for group, correlation in (*grouped.groups.items(), (whole, grouped.average)):
                yield label, kind, result.statistic, result.level, group, *_values(correlation, fields)
        if result.ceiling is not None:
            label = "judges: one against the others"
            yield label, "ceiling", result.statistic, "pooled", "", *_values(result.ceiling, fields)
    if evaluation.alpha is not None:
        yield "judges", "agreement", "krippendorff alpha (interval)", "pooled", "", *_values(evaluation.alpha, fields)


def significance_rows(evaluation: Results) -> Iterator[Sequence[Any]]:
    """A test of two metrics a line."""
    fields = ("a", "b", "test", "statistic", "level", "difference", "p", "p_greater", "p_holm", "n", "units", "reason")
    yield (*fields, "verdict", "why", "warnings")
    for result in evaluation.results:
        for test in result.tests:
            yield *_values(test, fields), verdict(test), test.why, "; ".join(test.warnings)


def score_rows(evaluation: Results) -> Iterator[Sequence[Any]]:
    """A judged text a line, without the text."""
    table = evaluation.table
    yield ("group", "id", "system", f"human: {table.score}", *table.columns)
    columns = [table.human, *(column.scores for column in table.columns.values())]
    for (group, name), system, *values in zip(table.inputs, table.systems, *columns, strict=True):
        yield group, name, system, *(_value(float(value)) for value in values)


ROWS = {"correlations.csv": correlation_rows, "tests.csv": significance_rows, "scores.csv": score_rows}


def _values(result: object, fields: Sequence[str]) -> list[Any]:
    """The named fields, "" for those it lacks."""
    return [_value(getattr(result, name, "")) for name in fields]


def _value(value: Any) -> Any:
    """A value for CSV: "" for NaN."""
    return "" if isinstance(value, float) and math.isnan(value) else value
