"""The pages of the training round: practice tasks, feedback after each, and the result of an attempt."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from human_eval.collection.practice import PracticeAnswer
from human_eval.marks import described
from human_eval.study import ERRORS, Task
from human_eval.training import marks
from human_eval.web.access import Visitor
from human_eval.web.item import ItemForm, ItemPage
from human_eval.web.site import Site


class PracticePages:
    """The training round of a site, if its study has one."""

    def __init__(self, site: Site) -> None:
        self._site, self._study, self._words = site, site.study, site.study.interface
        self._practice, self._people, self._items = site.store.practice, site.store.people, ItemPage(site)

    def routes(self) -> list[Route]:
        """Paths and their handlers."""
        return [
            Route("/practice", self.show),
            Route("/practice", self.submit, methods=["POST"]),
            Route("/practice/again", self.again),
            Route("/practice/feedback", self.feedback),
        ]

    def is_due(self, judge: str) -> bool:
        """Whether the judge must train before the first task. Who failed and is admitted all the same need not."""
        return self._practice.status(judge).outcome in ("training", "again")

    async def show(self, request: Request) -> Response:
        """The next practice task, or how an attempt ended."""
        visitor = self._site.visitor(request, "judge")
        now = self._practice.status(visitor.name)
        if not self._may(visitor) or now.outcome == "failed":
            return RedirectResponse("/", 303)
        if now.outcome == "training":
            return await self._task(visitor, now.open[0], now.attempt)
        token = self._site.access.form(visitor, "start")
        left = self._study.training.attempts - now.attempt - 1 if self._study.training else 0
        values = {"study": self._study, "token": token, "now": now, "left": left}
        return self._site.page("trained.html", values)

    async def again(self, request: Request) -> Response:
        """The first task of the next attempt."""
        visitor = self._site.visitor(request, "judge")
        now = self._practice.status(visitor.name)
        if not self._may(visitor) or now.outcome != "again":
            return RedirectResponse("/practice", 303)
        return await self._task(visitor, next(iter(self._tasks())), now.attempt + 1)

    async def submit(self, request: Request) -> Response:
        """Record the answers to a practice task and show which are right."""
        sent = await self._items.sent(request, "practice")
        if sent.entered.problem:
            return await self._task(sent.visitor, sent.task, sent.revision, sent.entered)
        if not self._may(sent.visitor):
            return RedirectResponse("/", 303)
        answers, seconds = self._items.answers(sent.entered, sent.task), await self._items.seconds(sent)
        await run_in_threadpool(self._practice.record, sent.visitor.name, sent.revision, sent.task, answers, seconds)
        return RedirectResponse("/practice/feedback", 303)

    async def feedback(self, request: Request) -> Response:
        """Which answers to the last practice task are right, and why."""
        visitor = self._site.visitor(request, "judge")
        done = self._practice.answers(visitor.name)
        if not done:
            return RedirectResponse("/practice", 303)
        return self._site.page("feedback.html", self._feedback(done[-1]))

    def _feedback(self, last: PracticeAnswer) -> dict[str, Any]:
        practice = self._tasks()[last.task]
        right = marks(practice, last.answers)
        article, task = self._study.shown(last.task)
        return {
            "study": self._study,
            "number": list(self._tasks()).index(last.task) + 1,
            "total": len(self._tasks()),
            "last": last,
            "rows": [
                {
                    "question": question,
                    "right": right[name],
                    "given": self._answer(name, last.answers[name], task),
                    "known": [self._answer(name, answer, task) for answer in practice.answers[name]],
                }
                for name, question in self._study.questions.items()
                if name in right
            ],
            "explanation": practice.explanation,
            "article": article,
            "summaries": self._items.summaries(task),
        }

    def _answer(self, name: str, answer: str, task: Task) -> str:
        """An answer to a criterion, or the errors that it marks, as judges read it."""
        if self._study.marking and name == ERRORS:
            return described(answer, task.texts, self._study.marking.categories, self._words)
        return self._study.kinds[name].words(answer, len(task.texts), self._words)

    async def _task(self, visitor: Visitor, task: str, attempt: int, form: ItemForm | None = None) -> Response:
        await run_in_threadpool(self._site.store.show, visitor.name, task, attempt)
        tasks = list(self._tasks())
        return self._items.page("practice", visitor, task, attempt, form or ItemForm({}), tasks, tasks.index(task))

    def _tasks(self) -> dict[str, Any]:
        return self._study.training.by_id if self._study.training else {}

    def _may(self, visitor: Visitor) -> bool:
        """Whether the judge trains: enrolled, not barred, and in an open study that has a training."""
        may = self._people.is_enrolled(visitor.name) and not self._people.barred(visitor.name)
        return may and bool(self._study.training) and self._site.store.state().gives_tasks
