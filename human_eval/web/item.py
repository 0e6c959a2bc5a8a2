"""The page of a task and its form: what it shows, and what a judge entered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from human_eval.study import Answer, Task
from human_eval.web.access import FORM_LIFE, ShownForm, Visitor
from human_eval.web.site import Site, page

COMMENT_LIMIT = 5_000  # characters


@dataclass(frozen=True)
class ItemForm:
    """The content of an item's form: criterion -> answer, and the problem with it, if any."""

    answers: Mapping[str, str]
    comment: str = ""
    problem: str = ""
    status: int = 200


class ItemPage:
    """The page of a task of a site, be it judged or practised."""

    def __init__(self, site: Site) -> None:
        self._site, self._study, self._words = site, site.study, site.study.interface

    def page(self, visitor: Visitor, task: str, revision: int, form: ItemForm, values: Mapping[str, Any]) -> Response:
        """The page, with the ``values`` that differ between judging and practice."""
        article, shown = self._study.shown(task)
        always = {
            "study": self._study,
            "draft": _draft(self._study.id, visitor.name, task, revision),
            "article": article,
            "words": len(article.split()),
            "summaries": self.summaries(shown),
            "form": form,
            "comment_limit": COMMENT_LIMIT,
        }
        return page("item.html", {**always, **values}, form.status, self._words)

    def summaries(self, task: Task) -> list[tuple[str, str]]:
        """Label and text of each summary."""
        return [(Answer.LEFT.label, task.left), (Answer.RIGHT.label, task.right)]

    def answers(self, form: ItemForm, task: str) -> Mapping[str, str]:
        """Criterion -> answer of a form without a problem."""
        return form.answers

    def entered(self, form: dict[str, str], shown: ShownForm, task: str) -> ItemForm:
        """What a judge entered, with the problem if it cannot be recorded."""
        names = [criterion.id for criterion in self._study.criteria]
        values = {name: form.get(f"answer-{number}", "") for number, name in enumerate(names)}
        answers = {name: value for name, value in values.items() if value in tuple(Answer)}
        comment = re.sub(r"\r\n?", "\n", form.get("comment", "")).strip()
        if len(comment) > COMMENT_LIMIT:
            return ItemForm(
                answers, comment, self._words("Please shorten the comment to {n} characters.", n=COMMENT_LIMIT), 422
            )
        if len(answers) < len(names):
            return ItemForm(
                answers, comment, self._words("Please answer every question. Unanswered ones are marked."), 422
            )
        if self._site.access.now() - shown.at > FORM_LIFE:
            return ItemForm(
                answers,
                comment,
                self._words("This page was open for long. Please check your answers and save again."),
                409,
            )
        return ItemForm(answers, comment)


def _draft(study: str, judge: str, task: str, revision: int) -> str:
    """Names a form for the browser, which keeps half an answer over a reload. It tells nothing of the task."""
    return hashlib.sha256(json.dumps([study, judge, task, revision]).encode()).hexdigest()[:16]
