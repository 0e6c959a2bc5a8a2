"""Mechanical Turk: a CSV with a row a task, and the HTML of the page that a batch project fills with it.

Texts go into the page as they stand in the CSV, so they are written as HTML there: whatever is not a plain letter,
digit or mark is a character reference. That keeps scripts, formulas and ``${...}`` out, and the file free of characters
that the upload refuses.
"""

from __future__ import annotations

import re

from human_eval.spreadsheet import csv_text
from human_eval.study import Study
from rlsum.pages.page import render

HEADER = ("study", "task", "article", "left", "right")
# The dot and the comma may stand inside a cell; what may begin a formula never stands as it is.
PLAIN = re.compile(r"[^A-Za-z0-9 .,;:!?()]")


def mturk(study: Study) -> dict[str, str]:
    """File name -> text: ``tasks.csv`` for the batch, ``template.html`` for the project's layout."""
    rows = (
        [study.id, task.id, *map(as_html, (study.articles[task.item], task.left, task.right))]
        for booklet in study.booklets
        for task in booklet
    )
    return {
        "tasks.csv": csv_text([HEADER, *rows]),
        "template.html": render("exports/mturk.html", {"study": study}, "human_eval"),
    }


def as_html(text: str) -> str:
    """A text as ASCII HTML: lines are broken by <br>, what is no HTML character is left out."""
    return "<br>".join(PLAIN.sub(_reference, line) for line in re.split(r"\r\n|\r|\n", text))


def _reference(match: re.Match[str]) -> str:
    code = ord(match[0])
    allowed = code == 9 or 0x20 <= code <= 0x7E or code >= 0xA0
    return f"&#{code};" if allowed else "\ufffd".encode("ascii", "xmlcharrefreplace").decode("ascii")
