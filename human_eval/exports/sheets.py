"""A spreadsheet a booklet: a row a task, answers to be filled in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from human_eval.exports.destination import booklet_name
from human_eval.study import Study

# What spreadsheets calculate, in both widths.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
FIRST, LAST = ("task", "judge"), ("comment", "study", "article", "left", "right")


def sheets(study: Study) -> dict[str, str]:
    """File name -> CSV of each booklet. Criteria stand before the texts, so that they are in sight.

    Judges write left, right or none; texts that a spreadsheet would take for a formula begin with an apostrophe. Each
    file begins with a byte order mark, by which spreadsheets know UTF-8.
    """
    criteria = [criterion.id for criterion in study.criteria]
    files = {}
    for number, booklet in enumerate(study.booklets):
        rows = (
            [task.id, "", *("" for _ in criteria), "", study.id, study.articles[task.item], task.left, task.right]
            for task in booklet
        )
        files[f"{booklet_name(study, number)}.csv"] = "\ufeff" + csv_text([*FIRST, *criteria, *LAST], rows)
    return files


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """CSV whose cells no spreadsheet runs."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([neutral(cell) for cell in row] for row in rows)
    return file.getvalue()


def neutral(cell: str) -> str:
    """The cell, or the cell behind an apostrophe where a spreadsheet would calculate it."""
    return f"'{cell}" if cell.lstrip(" \u00a0\ufeff").startswith(FORMULA_STARTS) else cell
