"""The pages of a judge: the link, the start, an item after the other, the last one again."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from human_eval.collection.store import Conflict, Place, Refused
from human_eval.study import ANSWERS, Answer
from human_eval.web.access import FORM_LIFE, NAME, NoAccess, Shown, Visitor
from human_eval.web.site import Site, fields, message, off_thread, page

COMMENT_LIMIT = 5_000  # characters
# What panels call the person in the address that they open.
PARTICIPANT = ("PROLIFIC_PID", "participant")


@dataclass(frozen=True)
class Draft:
    """What a form holds: answers by criterion, empty at first, and what is wrong with it."""

    answers: Mapping[str, Answer]
    comment: str = ""
    problem: str = ""
    status: int = 200


class Judging:
    """The judge's pages of a site."""

    def __init__(self, site: Site) -> None:
        self._site, self._store, self._study = site, site.store, site.study

    def routes(self) -> list[Route]:
        """Addresses and what answers there."""
        return [
            Route("/judge/{token}", self.enter),
            Route("/join/{token}", self.join),
            Route("/", self.start),
            Route("/start", self.begin, methods=["POST"]),
            Route("/item", self.item),
            Route("/item", self.submit, methods=["POST"]),
            Route("/last", self.last),
        ]

    async def enter(self, request: Request) -> Response:
        """A judge's own link."""
        self._site.count_stranger(request)
        visitor = self._site.access.visitor("judge", request.path_params["token"])
        return self._site.welcome(visitor, "/")

    async def join(self, request: Request) -> Response:
        """The invitation: whoever has it is a judge, under the name that a panel adds to the address or a new one.

        Such names begin with "guest:", which no personal link's can, so nobody can pass for an invited judge.
        """
        self._site.count_stranger(request)
        invitation = self._site.access.visitor("everyone", request.path_params["token"])
        given = next((request.query_params[name] for name in PARTICIPANT if name in request.query_params), None)
        if given is None:
            try:
                known = self._site.visitor(request, "judge")
                return self._site.welcome(known, "/")
            except NoAccess:
                given = secrets.token_hex(6)
        if not NAME.fullmatch(given):
            raise NoAccess("The name of the participant in this link is not valid.")
        return self._site.welcome(Visitor("judge", f"guest:{given}", invitation.expires), "/")

    async def start(self, request: Request) -> Response:
        """What to do, and how far the judge is."""
        visitor = self._site.visitor(request, "judge")
        place = await self._place(visitor)
        values = {
            "study": self._study,
            "token": self._site.access.form(visitor, "start"),
            "state": place.state,
            "done": len(place.done),
            "total": len(place.done) + len(place.open),
            "finished": bool(place.done) and not place.open,
            "completion": self._site.completion,
        }
        return page("start.html", values)

    async def begin(self, request: Request) -> Response:
        """Get work."""
        visitor = self._site.visitor(request, "judge")
        self._site.access.shown(visitor, "start", (await fields(request)).get("token", ""))
        if self._store.state() != "open":
            return RedirectResponse("/", 303)
        if not await off_thread(self._store.claim, visitor.name):
            return message("Nothing left to judge", "Every item has its judges by now. Thank you for coming.", 200)
        return RedirectResponse("/item", 303)

    async def item(self, request: Request) -> Response:
        """The next open item."""
        visitor = self._site.visitor(request, "judge")
        place = await self._place(visitor)
        if not place.open or place.state != "open":
            return RedirectResponse("/", 303)
        return self._item(visitor, place, place.open[0], 0, Draft({}))

    async def last(self, request: Request) -> Response:
        """The item answered last, to be changed."""
        visitor = self._site.visitor(request, "judge")
        place = await self._place(visitor)
        if not place.done or place.state == "closed":
            return RedirectResponse("/", 303)
        task = place.done[-1]
        found = self._store.answer(visitor.name, task)
        assert found is not None
        return self._item(visitor, place, task, found.revision + 1, Draft(found.answers, found.comment))

    async def submit(self, request: Request) -> Response:
        """Record an answer; the redirect that follows says that it is on the disk."""
        visitor = self._site.visitor(request, "judge")
        form = await fields(request)
        shown = self._site.access.shown(visitor, "item", form.get("token", ""))
        task, revision = shown.what[0], int(shown.what[1])
        draft = self._draft(form, shown)
        if draft.problem:
            place = await self._place(visitor)
            return self._item(visitor, place, task, revision, draft)
        seconds = max(0.0, self._site.access.now() - shown.at)  # clocks are set back now and then
        try:
            await off_thread(self._store.record, visitor.name, task, revision, draft.answers, draft.comment, seconds)
        except Conflict as error:
            return message("Answered already", str(error), 409, "/item", "Go on")
        except Refused as error:
            return message("Not recorded", str(error), 409, "/", "Go on")
        return RedirectResponse("/item", 303)

    async def _place(self, visitor: Visitor) -> Place:
        """Where the visitor stands, with a sign of life now and then. Reading is too quick to be worth a thread."""
        place = self._store.place(visitor.name)
        if place.fading:
            await off_thread(self._store.renew, visitor.name)
        return place

    def _draft(self, form: dict[str, str], shown: Shown) -> Draft:
        names = [criterion.id for criterion in self._study.criteria]
        given = {name: form.get(f"answer-{place}", "") for place, name in enumerate(names)}
        answers = {name: answer for name, answer in given.items() if answer in ANSWERS}
        comment = re.sub(r"\r\n?", "\n", form.get("comment", "")).strip()
        if len(comment) > COMMENT_LIMIT:
            return Draft(answers, comment, f"Please shorten the comment to {COMMENT_LIMIT} characters.", 422)
        if len(answers) < len(names):
            return Draft(answers, comment, "Please answer every question; the marked ones are still open.", 422)
        if self._site.access.now() - shown.at > FORM_LIFE:
            return Draft(answers, comment, "This page was open for long. Please look again, then save.", 409)
        return Draft(answers, comment)

    def _item(self, visitor: Visitor, place: Place, task: str, revision: int, draft: Draft) -> Response:
        shown = self._study.by_id[task]
        article = self._study.articles[shown.item]
        done, total = len(place.done), len(place.done) + len(place.open)
        questions = [
            {
                "name": f"answer-{number}",
                "text": criterion.question,
                "help": criterion.help,
                "answer": draft.answers.get(criterion.id),
                "missing": bool(draft.problem) and criterion.id not in draft.answers,
            }
            for number, criterion in enumerate(self._study.criteria)
        ]
        values = {
            "study": self._study,
            "token": self._site.access.form(visitor, "item", task, str(revision)),
            "editing": revision > 0,
            "number": place.done.index(task) + 1 if task in place.done else done + 1,
            "done": done,
            "total": total,
            "article": article,
            "words": len(article.split()),
            "summaries": [("A", shown.left), ("B", shown.right)],
            "questions": questions,
            "comment": draft.comment,
            "comment_limit": COMMENT_LIMIT,
            "problem": draft.problem,
        }
        return page("item.html", values, draft.status)
