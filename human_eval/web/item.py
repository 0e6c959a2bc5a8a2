"""The page of a task and its form: what it shows, and what a judge entered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from human_eval import marks
from human_eval.answers import LETTERS, Part
from human_eval.collection.responses import Response as Judgment
from human_eval.study import ERRORS, Criterion, Task
from human_eval.web.access import FORM_LIFE, ShownForm, Visitor
from human_eval.web.site import Site

COMMENT_LIMIT = 5_000  # characters
MARKS = "marks"  # the field of marked errors

Kind = Literal["item", "practice"]
HEADINGS = {
    "item": "Comparison {n} of {total}",
    "editing": "Change comparison {n} of {total}",
    "practice": "Practice {n} of {total}",
}


@dataclass(frozen=True)
class ItemForm:
    """The content of an item's form: field -> choice, and the problem with it, if any."""

    chosen: Mapping[str, str]
    comment: str = ""
    problem: str = ""
    status: int = 200


@dataclass(frozen=True)
class Sent:
    """A form of a task that ``visitor`` sent; ``revision``: of the response, or the attempt of a practice."""

    visitor: Visitor
    task: str
    revision: int
    entered: ItemForm
    at: float


class ItemPage:
    """The page of a task of a site, be it judged or practised."""

    def __init__(self, site: Site) -> None:
        self._site, self._study, self._words = site, site.study, site.study.interface

    def page(
        self, kind: Kind, visitor: Visitor, task: str, revision: int, form: ItemForm, tasks: Sequence[str], done: int
    ) -> Response:
        """The page of one of the ``tasks`` of a judge, in their order, of which the first ``done`` are answered."""
        article, shown = self._study.shown(task)
        editing = kind == "item" and revision > 0
        number = tasks.index(task) + 1 if task in tasks[:done] else done + 1
        values = {
            "study": self._study,
            "heading": self._words(HEADINGS["editing" if editing else kind], n=number, total=len(tasks)),
            "action": f"/{kind}",
            "token": self._site.access.form(visitor, kind, task, str(revision)),
            "editing": editing,
            "done": done,
            "total": len(tasks),
            "draft": _draft(self._study.id, visitor.name, task, revision),
            "article": article,
            "words": marks.length(article),
            "summaries": self.summaries(shown),
            "questions": self._questions(task),
            "form": form,
            "marks": form.chosen.get(MARKS, ""),
            "split": marks.words,
            "comment_limit": COMMENT_LIMIT,
        }
        return self._site.page("item.html", values, form.status)

    def summaries(self, task: Task) -> list[tuple[str, str]]:
        """Label and text of each summary."""
        return list(zip(LETTERS, task.texts, strict=False))

    def answers(self, form: ItemForm, task: str) -> dict[str, str]:
        """Criterion -> answer of a form without a problem."""
        answers = {asked.id: asked.kind.answer(form.chosen, name, texts) for asked, name, texts in self._asked(task)}
        return answers | ({ERRORS: form.chosen.get(MARKS, "")} if self._study.marking else {})

    def chosen(self, response: Judgment) -> dict[str, str]:
        """Field -> choice of an earlier response."""
        marked = {MARKS: response.answers[ERRORS]} if self._study.marking else {}
        return marked | {
            field: choice
            for asked, name, texts in self._asked(response.task)
            for field, choice in zip(asked.kind.fields(name, texts), response.answers[asked.id].split(" "), strict=True)
        }

    def entered(self, form: dict[str, str], shown: ShownForm, task: str) -> ItemForm:
        """What a judge entered, with the problem if it cannot be recorded."""
        wanted = {field: part for _, parts in self._questions(task) for field, part in parts.items()}
        chosen = {field: form[field] for field, part in wanted.items() if form.get(field) in part.values}
        if marked := self._marks(form, task):
            chosen[MARKS] = marked
        comment = re.sub(r"\r\n?", "\n", form.get("comment", "")).strip()
        answers = self.answers(ItemForm(chosen), task)
        faulty = [asked.kind for asked, _, texts in self._asked(task) if asked.kind.fault(answers[asked.id], texts)]
        wrong, status = "", 422
        if len(comment) > COMMENT_LIMIT:
            wrong = self._words("Please shorten the comment to {n} characters.", n=COMMENT_LIMIT)
        elif marks.too_many(chosen.get(MARKS, "")):
            wrong = self._words("Please mark at most {n} errors. Remove some, then save again.", n=marks.MOST)
        elif len(chosen) < len(wanted) + (self._study.marking is not None):
            wrong = self._words("Please answer every question. Unanswered ones are marked.")
        elif faulty:
            wrong = faulty[0].hinted(self._words)
        elif self._site.access.now() - shown.at > FORM_LIFE:
            wrong, status = self._words("This page was open for long. Please check your answers and save again."), 409
        return ItemForm(chosen, comment, wrong, status if wrong else 200)

    async def sent(self, request: Request, form: str) -> Sent:
        """The form that a judge sent. Raises NoAccess unless ``form`` was shown to this judge."""
        visitor, values, shown = await self._site.sent(request, "judge", form)
        task, revision = shown.subject[0], int(shown.subject[1])
        return Sent(visitor, task, revision, self.entered(values, shown, task), shown.at)

    async def judgment(self, sent: Sent) -> Judgment:
        """What is recorded of a form without a problem."""
        return Judgment(
            study=self._study.id,
            task=sent.task,
            judge=sent.visitor.name,
            answers=self.answers(sent.entered, sent.task),
            comment=sent.entered.comment,
            seconds=await self.seconds(sent),
        )

    async def seconds(self, sent: Sent) -> float:
        """The seconds since the form was shown first; the clock may have been set back."""
        first = await run_in_threadpool(self._site.store.show, sent.visitor.name, sent.task, sent.revision)
        return max(0.0, self._site.access.now() - min(first, sent.at))

    def _asked(self, task: str) -> list[tuple[Criterion, str, int]]:
        """Each criterion, the name of its fields, which does not name it, and the number of summaries."""
        texts = len(self._study.shown(task)[1].texts)
        return [(asked, f"answer-{number}", texts) for number, asked in enumerate(self._study.criteria)]

    def _questions(self, task: str) -> list[tuple[Criterion, dict[str, Part]]]:
        """Each criterion with its fields."""
        return [(asked, asked.kind.fields(name, texts)) for asked, name, texts in self._asked(task)]

    def _marks(self, form: dict[str, str], task: str) -> str:
        """The errors, perhaps too many, that a judge marked and confirmed to be all; "" if there is no valid answer."""
        marking, (_, shown) = self._study.marking, self._study.shown(task)
        if marking is None or form.get("marks-done") != "yes":
            return ""
        answer = form.get(MARKS, "")
        valid = marks.too_many(answer) or not marks.fault(answer, shown.texts, marking.categories)
        return answer if valid else ""


def _draft(study: str, judge: str, task: str, revision: int) -> str:
    """Names a form for the browser, which keeps half an answer over a reload. It tells nothing of the task."""
    return hashlib.sha256(json.dumps([study, judge, task, revision]).encode()).hexdigest()[:16]
