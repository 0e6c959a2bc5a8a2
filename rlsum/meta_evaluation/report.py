"""A meta-evaluation for readers: terminal, one HTML page, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum.meta_evaluation.evaluation import MetaEvaluation
from rlsum.meta_evaluation.findings import findings, material, told, warnings
from rlsum.meta_evaluation.pictures import heat_map, scatter
from rlsum.meta_evaluation.tables import correlation_table, group_table, matrix_table, pairs_table
from rlsum.pages.page import render
from rlsum.pages.pictures import Picture
from rlsum.pages.table import Table, show, to_latex, to_markdown
from rlsum.records import finite

if TYPE_CHECKING:
    from rich.console import Console

FILES = ("report.html", "report.md", "report.tex", "report.json", "correlations.csv", "tests.csv", "scores.csv")


@dataclass(frozen=True)
class Report:
    """The words and tables of a meta-evaluation; ``matrices`` and ``pairs`` show the same tests."""

    title: str
    material: list[str]
    findings: list[str]
    warnings: list[str]
    correlations: list[Table]
    matrices: list[Table]
    pairs: list[Table]
    signatures: list[str]


@dataclass(frozen=True)
class Page(Report):
    """The same with its pictures."""

    scatter: Picture
    maps: list[Picture]


def build_report(evaluation: MetaEvaluation) -> Report:
    """All words and tables; draws nothing."""
    table, results = evaluation.table, evaluation.results
    tested = [result for result in results if result.tests]
    grouped = [group_table(evaluation, result) for result in results if evaluation.choices.average is not None]
    return Report(
        title=f"Do the metrics agree with people? {table.name}: {table.score}",
        material=material(evaluation),
        findings=findings(evaluation),
        warnings=warnings(evaluation),
        correlations=[correlation_table(evaluation), *grouped],
        matrices=[matrix_table(result) for result in tested],
        pairs=[pairs_table(result) for result in tested],
        signatures=[f"{label}: {column.signature}" for label, column in table.columns.items()],
    )


def print_report(report: Report, console: Console) -> None:
    """The report in a terminal; pictures are left to the page."""
    for line in report.material:
        console.print(line, style="dim", markup=False, highlight=False)
    for table in (*report.correlations, *report.matrices):
        console.print()
        show(table, console)
    console.print()
    for line in report.findings:
        console.print(f"- {line}", markup=False, highlight=False)
    for line in report.warnings:
        console.print(f"! {line}", style="yellow", markup=False, highlight=False)
    for line in report.signatures:
        console.print(line, style="dim", markup=False, highlight=False, soft_wrap=True)


def write_report(evaluation: MetaEvaluation, folder: Path) -> list[Path]:
    """Write every form of the report, and the pictures as PNG, into ``folder``; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    report = build_report(evaluation)
    maps = [heat_map(result) for result in evaluation.results if result.tests]
    page = Page(**vars(report), scatter=scatter(evaluation.table), maps=maps)
    texts = {
        "report.html": render("meta_evaluation/report.html", {"report": page}),
        "report.md": to_markdown_page(report, [page.scatter, *maps]),
        "report.tex": "\n\n".join(to_latex(table) for table in (*report.correlations, *report.matrices)) + "\n",
        "report.json": to_json(evaluation) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, rows in zip(FILES[-3:], (_correlations, _tests, _scores), strict=True):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows(evaluation))
    for picture in (page.scatter, *maps):
        (folder / f"{picture.name}.png").write_bytes(picture.light)
    return [folder / name for name in FILES]


def to_markdown_page(report: Report, pictures: Sequence[Picture] = ()) -> str:
    """The report as Markdown; the pictures lie beside it."""
    blocks = [f"# {report.title}", *report.material, "## What it says", _listed(report.findings)]
    blocks += ["## Careful", _listed(report.warnings)] if report.warnings else []
    blocks += ["## Correlations", *(to_markdown(table) for table in report.correlations)]
    blocks += [picture.markdown() for picture in pictures]
    blocks += ["## Between metrics", *(to_markdown(table) for table in report.pairs)]
    blocks += ["## Signatures", _listed(f"`{signature}`" for signature in report.signatures)]
    return "\n\n".join(blocks) + "\n"


def to_json(evaluation: MetaEvaluation) -> str:
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
                "correlations": {label: asdict(found) for label, found in result.correlations.items()},
                "ceiling": asdict(result.ceiling) if result.ceiling else None,
                "tests": [{**asdict(test), "verdict": told(test)} for test in result.tests],
                "williams": [asdict(test) for test in result.williams],
            }
            for result in evaluation.results
        ],
        "alpha": asdict(evaluation.alpha) if evaluation.alpha else None,
        "findings": findings(evaluation),
        "warnings": warnings(evaluation),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def _correlations(evaluation: MetaEvaluation) -> Iterator[Sequence[Any]]:
    """A correlation a line: metrics, lengths and judges, each group and the whole."""
    fields = ("value", "low", "high", "n", "coverage", "over", "left_out", "epsilon", "reason")
    yield ("label", "kind", "statistic", "level", "group", *fields)
    for result in evaluation.results:
        where = result.statistic, result.level
        for label, found in result.correlations.items():
            kind = evaluation.table.columns[label].kind
            whole = "" if evaluation.choices.average is None else f"average of {evaluation.choices.average}"
            for group, each in (*found.groups.items(), (whole, found.average)):
                yield label, kind, *where, group, *_row(each, fields)
        if result.ceiling is not None:
            yield (
                "judges: one against the others",
                "ceiling",
                result.statistic,
                "pooled",
                "",
                *_row(result.ceiling, fields),
            )
    if evaluation.alpha is not None:
        yield "judges", "agreement", "krippendorff alpha (interval)", "pooled", "", *_row(evaluation.alpha, fields)


def _tests(evaluation: MetaEvaluation) -> Iterator[Sequence[Any]]:
    fields = ("a", "b", "test", "statistic", "level", "difference", "p", "p_greater", "p_holm", "n", "units", "reason")
    yield (*fields, "verdict", "why", "warnings")
    for result in evaluation.results:
        for test in (*result.tests, *result.williams):
            yield *_row(test, fields), told(test), test.why, "; ".join(test.warnings)


def _scores(evaluation: MetaEvaluation) -> Iterator[Sequence[Any]]:
    """A judged text a line, without the text."""
    table = evaluation.table
    yield ("group", "id", "system", f"human: {table.score}", *table.columns)
    columns = [column.scores for column in table.columns.values()]
    for place, ((group, name), system) in enumerate(zip(table.inputs, table.systems, strict=True)):
        values = (float(table.human[place]), *(float(column[place]) for column in columns))
        yield group, name, system, *("" if math.isnan(value) else value for value in values)


def _row(found: object, fields: Iterable[str]) -> list[Any]:
    """The named fields, "" for those it lacks and for NaN."""
    values = (getattr(found, name, "") for name in fields)
    return ["" if isinstance(value, float) and math.isnan(value) else value for value in values]


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
