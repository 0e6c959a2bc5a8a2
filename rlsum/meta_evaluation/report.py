"""A meta-evaluation for readers: terminal, one HTML page, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rewards.scoring import short_signature
from rlsum.meta_evaluation.evaluation import Results
from rlsum.meta_evaluation.findings import findings, material, verdict, warnings
from rlsum.meta_evaluation.pictures import heat_map, scatter
from rlsum.meta_evaluation.tables import correlation_table, group_table, matrix_table, pairs_table
from rlsum.pages.blocks import Block, Bullets, Fold, Heading, section, signature_section, small_print
from rlsum.pages.formats import csv_text, file_names, write_report
from rlsum.pages.shown import Shown, frame
from rlsum.pages.table import Table
from rlsum.records import finite

REPORT = file_names()
FILES = (*REPORT.values(), "report.json", "correlations.csv", "tests.csv", "scores.csv")


@dataclass(frozen=True, repr=False)
class MetaEvaluation(Shown, Results):
    """All statistics of a table, with their report."""

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """Tables, findings, warnings and signatures."""
        return summary(self, long_signatures)

    def pictures(self) -> list[Block]:
        """Each metric against people."""
        return [scatter(self.table)]

    def to_frame(self) -> Any:
        """A correlation a row: metrics, lengths and judges, each group and the whole."""
        header, *rows = correlation_rows(self)
        return frame(header, rows)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the report into ``folder`` as HTML, Markdown, LaTeX, CSV, JSON and pictures; returns the paths."""
        texts = {
            "report.json": to_json(self) + "\n",
            "correlations.csv": csv_text(correlation_rows(self)),
            "tests.csv": csv_text(significance_rows(self)),
            "scores.csv": csv_text(score_rows(self)),
        }
        return write_report(Path(folder), REPORT, report(self), texts, paper=summary(self))


def summary(evaluation: Results, long_signatures: bool = True) -> list[Block]:
    """What the terminal shows: tables first, conclusions last, where a reader looks; its tables are those of LaTeX."""
    signatures = _signatures(evaluation)
    matrices = [matrix_table(result) for result in evaluation.results if result.tested]
    return [
        *small_print(material(evaluation)),
        *_correlations(evaluation),
        *matrices,
        Bullets(findings(evaluation)),
        Bullets(warnings(evaluation), "warning"),
        Bullets(signatures if long_signatures else [short_signature(text) for text in signatures], "code"),
    ]


def report(evaluation: Results) -> list[Block]:
    """What HTML and Markdown show: conclusions first, and pictures."""
    tested = [result for result in evaluation.results if result.tested]
    pairs = [Fold(f"{table.caption}: all pairs", (table,)) for table in map(pairs_table, tested)]
    return [
        Heading(f"Do the metrics agree with people? {evaluation.table.name}: {evaluation.table.score}", 1),
        *small_print(material(evaluation)),
        *section("Findings", Bullets(findings(evaluation))),
        *section("Warnings", Bullets(warnings(evaluation), "warning")),
        *section("Correlations", *_correlations(evaluation)),
        *section("Metrics against people", scatter(evaluation.table)),
        *section("Between metrics", *map(heat_map, tested), *pairs),
        *signature_section(_signatures(evaluation)),
    ]


def _correlations(evaluation: Results) -> list[Table]:
    grouped = evaluation.results if evaluation.choices.average is not None else ()
    return [correlation_table(evaluation), *(group_table(result) for result in grouped)]


def _signatures(evaluation: Results) -> list[str]:
    return [f"{label}: {column.signature}" for label, column in evaluation.table.columns.items()]


# ---- as data -------------------------------------------------------------------------------------------------------


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
                "tests": [{**asdict(test), "verdict": verdict(result, test)} for test in result.tests],
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
    average = "" if evaluation.choices.average is None else f"average of {evaluation.choices.average}"
    yield ("label", "kind", "statistic", "level", "group", *fields)
    for result in evaluation.results:
        for label, grouped in result.correlations.items():
            kind = evaluation.table.columns[label].kind
            for group, correlation in (*grouped.groups.items(), (average, grouped.average)):
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
            yield *_values(test, fields), verdict(result, test), test.why, "; ".join(test.warnings)


def score_rows(evaluation: Results) -> Iterator[Sequence[Any]]:
    """A judged text a line, without the text."""
    table = evaluation.table
    yield ("group", "id", "system", f"human: {table.score}", *table.columns)
    columns = [table.human, *(column.scores for column in table.columns.values())]
    for (group, name), system, *values in zip(table.inputs, table.systems, *columns, strict=True):
        yield group, name, system, *map(float, values)


def _values(result: object, fields: Sequence[str]) -> list[Any]:
    """The named fields, "" for those it lacks."""
    return [getattr(result, name, "") for name in fields]
