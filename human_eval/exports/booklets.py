"""One file a booklet, for a judge without the app: an HTML page that works offline, or a spreadsheet."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from human_eval.answers import LETTERS
from human_eval.formatting import csv_text
from human_eval.study import Interface, Study
from rlsum.pages.templates import render

FORMAT = 1  # of the JSON file that a page saves
FIRST, LAST = ("task", "judge"), ("comment", "study", "article")
TEXTS = ("left", "right", "third", "fourth", "fifth")  # columns of summaries


def offline(study: Study, booklets: Sequence[int]) -> dict[str, str]:
    """File name -> HTML page of each of ``booklets`` (0..). It needs no network and saves a JSON file."""
    return {f"{_name(study, number)}.html": page(study, number) for number in booklets}


def sheets(study: Study, booklets: Sequence[int]) -> dict[str, str]:
    """File name -> CSV of each of ``booklets`` (0..), one row a task.

    Criteria come before the long texts, to stay visible.

    Judges write left, right or none, or what else `human_eval.answers.written` knows. Texts that a spreadsheet would
    evaluate begin with an apostrophe. A byte order mark tells spreadsheets that a file is UTF-8.
    """
    most = study.most_texts
    criteria = [field for asked in study.criteria for field in asked.kind.fields(asked.id, most)]
    files = {}
    for number in booklets:
        rows = (
            [task.id, "", *("" for _ in criteria), "", study.id, study.articles[task.item], *task.texts]
            for task in study.booklets[number]
        )
        files[f"{_name(study, number)}.csv"] = "\ufeff" + csv_text([[*FIRST, *criteria, *LAST, *TEXTS[:most]], *rows])
    return files


def page(study: Study, booklet: int) -> str:
    """The page of one booklet (0..), with its texts, style and script.

    The content security policy allows this script only, by its hash, and no requests. Markup in a text would stay
    inert even if it were not escaped.
    """
    from markupsafe import Markup

    tasks = [
        {"task": task.id, "article": study.articles[task.item], "texts": task.texts} for task in study.booklets[booklet]
    ]
    data = {"format": FORMAT, "study": study.id, "booklet": booklet, "tasks": tasks, "fields": _fields(study)}
    package = resources.files("human_eval")
    script = package.joinpath("exports/offline.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    values = {
        "study": study,
        "number": booklet + 1,
        "letters": LETTERS[: study.most_texts],
        "questions": [(asked, asked.kind.fields(asked.id, study.most_texts)) for asked in study.criteria],
        "t": Interface(),  # these files are English
        "data": data,
        "script": Markup(script),  # trusted: files of this package
        "style": Markup(package.joinpath("web/static/style.css").read_text(encoding="utf-8")),
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; form-action 'none'",
    }
    return render("exports/offline.html", values, "human_eval")


def _fields(study: Study) -> dict[int, dict[str, dict[str, list[str]]]]:
    """Number of summaries -> criterion -> field -> values."""
    return {
        texts: {
            asked.id: {field: part.values for field, part in asked.kind.fields(asked.id, texts).items()}
            for asked in study.criteria
        }
        for texts in {len(task.texts) for task in study.tasks}
    }


def _name(study: Study, number: int) -> str:
    """The file name of a booklet (0..) without suffix. Names sort in the order of booklets."""
    width = max(2, len(str(len(study.booklets))))
    return f"booklet-{number + 1:0{width}}"
