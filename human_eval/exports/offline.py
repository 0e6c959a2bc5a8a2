"""A page a booklet that works without a server: opened from disk, it returns a JSON file."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict
from importlib import resources
from typing import Any

from human_eval.exports.destination import booklet_name
from human_eval.study import Study, Task
from rlsum.pages.page import render

FORMAT = 1


def offline(study: Study) -> dict[str, str]:
    """File name -> page of each booklet."""
    return {f"{booklet_name(study, number)}.html": page(study, number) for number in range(len(study.booklets))}


def page(study: Study, booklet: int) -> str:
    """The page of one booklet, texts, style and script inside.

    Its content policy allows that one script, by its hash, and nothing from elsewhere: a text that is markup stays text
    even where an escape were missing.
    """
    from markupsafe import Markup

    script = resources.files("human_eval").joinpath("exports/offline.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    values = {
        "study": study,
        "number": booklet + 1,
        "data": _data(study, booklet),
        "script": Markup(script),  # ours
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; form-action 'none'",
    }
    return render("exports/offline.html", values, "human_eval")


def _data(study: Study, booklet: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "study": study.id,
        "booklet": booklet,
        "criteria": [asdict(criterion) for criterion in study.criteria],
        "tasks": [_shown(study, task) for task in study.booklets[booklet]],
    }


def _shown(study: Study, task: Task) -> dict[str, str]:
    return {"task": task.id, "article": study.articles[task.item], "left": task.left, "right": task.right}
