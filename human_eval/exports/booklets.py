"""One file a booklet, for a judge without the app: an HTML page that works offline, or a spreadsheet."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources

from human_eval.formatting import csv_text
from human_eval.study import IN_ORDER, Answer, Study
from rlsum.pages.page import render

FORMAT = 1  # of the JSON file that a page saves
FIRST, LAST = ("task", "judge"), ("comment", "study", "article", "left", "right")


def offline(study: Study, booklets: Sequence[int] | None = None) -> dict[str, str]:
    """File name -> HTML page of each of ``booklets`` (0.., default all). It needs no network and saves a JSON file."""
    return {f"{_name(study, number)}.html": page(study, number) for number in _numbers(study, booklets)}


def sheets(study: Study, booklets: Sequence[int] | None = None) -> dict[str, str]:
    """File name -> CSV of each of ``booklets`` (0.., default all), one row a task.

    Criteria come before the long texts, to stay visible.

    Judges write left, right or none (`human_eval.collection.returns.WRITTEN`). Texts that a spreadsheet would evaluate
    begin with an apostrophe. A byte order mark tells spreadsheets that a file is UTF-8.
    """
    criteria = [criterion.id for criterion in study.criteria]
    files = {}
    for number in _numbers(study, booklets):
        rows = (
            [task.id, "", *("" for _ in criteria), "", study.id, study.articles[task.item], task.left, task.right]
            for task in study.booklets[number]
        )
        files[f"{_name(study, number)}.csv"] = "\ufeff" + csv_text([[*FIRST, *criteria, *LAST], *rows])
    return files


def page(study: Study, booklet: int) -> str:
    """The page of one booklet (0..), with its texts, style and script.

    The content security policy allows this script only, by its hash, and no requests. Markup in a text would stay
    inert even if it were not escaped.
    """
    from markupsafe import Markup

    tasks = [
        {"task": task.id, "article": study.articles[task.item], "left": task.left, "right": task.right}
        for task in study.booklets[booklet]
    ]
    criteria = [asdict(criterion) for criterion in study.criteria]
    data = {"format": FORMAT, "study": study.id, "booklet": booklet, "criteria": criteria, "tasks": tasks}
    script = resources.files("human_eval").joinpath("exports/offline.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    values = {
        "study": study,
        "number": booklet + 1,
        "answers": IN_ORDER,
        "labels": {"left": Answer.LEFT.label, "right": Answer.RIGHT.label},
        "data": data,
        "script": Markup(script),  # trusted: a file of this package
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; form-action 'none'",
    }
    return render("exports/offline.html", values, "human_eval")


def _numbers(study: Study, booklets: Sequence[int] | None) -> Sequence[int]:
    return range(len(study.booklets)) if booklets is None else booklets


def _name(study: Study, number: int) -> str:
    """The file name of a booklet (0..) without suffix. Names sort in the order of booklets."""
    width = max(2, len(str(len(study.booklets))))
    return f"booklet-{number + 1:0{width}}"
