"""A spreadsheet a booklet: a row a task, answers to be filled in."""

from __future__ import annotations

from human_eval.exports.destination import booklet_name
from human_eval.spreadsheet import csv_text
from human_eval.study import Study

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
        files[f"{booklet_name(study, number)}.csv"] = "\ufeff" + csv_text([[*FIRST, *criteria, *LAST], *rows])
    return files
