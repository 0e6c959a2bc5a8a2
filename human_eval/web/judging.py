"""The pages of a judge: the link, the start page, one item after the other, and the last item again."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping
from functools import cached_property

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from human_eval.collection.people import Barred
from human_eval.collection.store import Conflict, JudgeProgress, Refused
from human_eval.enrolment import is_screened_out, problem
from human_eval.minutes import minutes
from human_eval.study import Enrolment
from human_eval.votes.exclusion import ExclusionRules, fails
from human_eval.web.access import NAME, NoAccess, Visitor
from human_eval.web.item import ItemForm, ItemPage
from human_eval.web.practice import PracticePages
from human_eval.web.site import Site

# Parameters of links, in any letter case: those that name who comes, and others of Prolific, to approve or reject.
PARTICIPANT = {"prolific_pid": re.compile("[0-9a-f]{24}"), "participant": NAME}
PANEL = ("session_id", "study_id")
WAIT = (
    "All places are taken. One becomes free when another judge stops. This page asks by itself; please keep it open. "
    "It waits {n} minutes at most."
)
PATIENCE = 15 * 60.0  # seconds for which a judge waits at most until a booklet becomes free
AGAIN = 20  # seconds until the waiting page asks again


class Judging:
    """The judge's pages of a site."""

    def __init__(self, site: Site) -> None:
        self._site, self._store, self._study = site, site.store, site.study
        self._words, self._items, self._training = site.study.interface, ItemPage(site), PracticePages(site)

    def routes(self) -> list[Route]:
        """Paths and their handlers."""
        return [
            Route("/judge/{token}", self.enter),
            Route("/join/{token}", self.join),
            Route("/", self.start),
            Route("/start", self.begin, methods=["POST"]),
            Route("/wait", self.wait),
            Route("/item", self.item),
            Route("/item", self.submit, methods=["POST"]),
            Route("/last", self.last),
            Route("/withdraw", self.ask_to_withdraw),
            Route("/withdraw", self.withdraw, methods=["POST"]),
            *self._training.routes(),
        ]

    async def enter(self, request: Request) -> Response:
        """A judge's personal link."""
        return self._site.welcome(self._site.holder(request, "judge"), "/")

    async def join(self, request: Request) -> Response:
        """The link for everyone. The judge is named by the panel's parameter, else by the cookie, else at random.

        These names begin with "guest:", which personal links do not allow, so a guest cannot pass for an invited judge.
        A judge who has begun stays in their browser: who knows another's name sees nothing.
        """
        invitation = self._site.holder(request, "everyone")
        present = self._present(request)
        query = {name.strip().lower(): value for name, value in request.query_params.items()}
        parameter = next((name for name in PARTICIPANT if name in query), None)
        from_panel = any(name in PANEL or name.startswith("prolific") for name in query)
        if parameter is None and present and not from_panel:
            return self._site.welcome(present, "/")
        name = query[parameter] if parameter else secrets.token_hex(6)
        if not PARTICIPANT[parameter].fullmatch(name) if parameter else from_panel:
            raise NoAccess(
                "This link does not hold your participant ID as the panel writes it (on Prolific 24 digits and small "
                "letters), so nobody could pay you. Please open the study from the panel again."
            )
        guest = Visitor("judge", f"guest:{name}", invitation.expires)
        if present and present.name != guest.name and not self._may_leave(present):
            text = "Another judge uses this browser. To judge as someone else, open your link in a private window."
            return self._site.message("Another judge is here", text, 409, "/", "Continue as that judge")
        if not (present and present.name == guest.name) and self._store.progress(guest.name).stage != "new":
            text = "You have begun in another browser. Please continue there, or ask for a personal link."
            return self._site.message("Already begun", text, 409)
        if parameter:
            panel = (value if NAME.fullmatch(value) else "" for value in map(query.get, PANEL, ("", "")))
            await run_in_threadpool(self._store.people.arrive, guest.name, *panel)
        return self._site.welcome(guest, "/")

    def _present(self, request: Request) -> Visitor | None:
        """The judge whose cookie this browser has."""
        try:
            return self._site.known(request, "judge")
        except NoAccess:
            return None

    def _may_leave(self, judge: Visitor) -> bool:
        """Whether another may use the browser of a judge: a guest who has not begun, or has nothing left to judge."""
        return judge.name.startswith("guest:") and self._store.progress(judge.name).stage != "judging"

    async def start(self, request: Request) -> Response:
        """Instructions and the judge's progress."""
        visitor = self._site.visitor(request, "judge")
        return self._start(visitor, await self._progress(visitor), {}, "")

    def _start(self, visitor: Visitor, progress: JudgeProgress, about: Mapping[str, str], wrong: str) -> Response:
        """The page, with what the judge told about themselves and what is wrong with it, if anything."""
        values = {
            "study": self._study,
            "token": self._site.access.form(visitor, "start"),
            "state": progress.state,
            "done": len(progress.done),
            "total": len(progress.done) + len(progress.open),
            "work": self._work(progress),
            "stage": progress.stage,
            "completion": self._site.shown.completion_url,
            "return_url": self._way_back(progress, barred := self._store.people.barred(visitor.name)),
            "asks": self._study.enrolment != Enrolment() and not self._store.people.is_enrolled(visitor.name),
            "about": about,
            "problem": wrong,
            "barred": barred,
            "enrolled": self._store.people.is_enrolled(visitor.name),
            "training": self._study.training if self._training.is_due(visitor.name) else None,
        }
        return self._site.page("start.html", values, 422 if wrong else 200)

    def _way_back(self, progress: JudgeProgress, barred: str) -> str:
        """The address for a judge who does not finish."""
        reason = barred if barred in self._site.shown.returns else "partial" if progress.done else ""
        return self._site.shown.returns.get(reason) or self._site.shown.return_url

    def _work(self, progress: JudgeProgress) -> tuple[str, int]:
        """Number and minutes of the comparisons to come; of any booklet before the judge has one."""
        tasks = [self._study.by_id[task] for task in progress.open]
        sizes = [len(tasks)] if tasks else [len(booklet) for booklet in self._study.booklets]
        duration = minutes(self._study, tasks) if tasks else self._longest
        least, most = min(sizes), max(sizes)
        return str(most) if least == most else f"{least}-{most}", duration

    @cached_property
    def _longest(self) -> int:
        return max(minutes(self._study, booklet) for booklet in self._study.booklets)  # slow for a large study

    async def begin(self, request: Request) -> Response:
        """Enrol the judge, who may be screened out."""
        visitor, form, _ = await self._site.sent(request, "judge", "start")
        if not self._store.state().gives_tasks:
            return RedirectResponse("/", 303)
        people, enrolment = self._store.people, self._study.enrolment
        if not people.is_enrolled(visitor.name):
            about = {asked.id: form.get(f"about-{n}", "").strip() for n, asked in enumerate(enrolment.questions)}
            if wrong := problem(enrolment, form.get("agree") == "yes", about, self._words):
                return self._start(visitor, await self._progress(visitor), about, wrong)
            await run_in_threadpool(people.enrol, visitor.name, about, device(request.headers.get("user-agent", "")))
            if is_screened_out(enrolment, about):
                await run_in_threadpool(people.bar, visitor.name, "screened out")
                return RedirectResponse("/", 303)
        return RedirectResponse("/practice" if self._training.is_due(visitor.name) else "/wait", 303)

    async def wait(self, request: Request) -> Response:
        """Lend a booklet to a judge who has enrolled, or ask to wait for one."""
        visitor = self._site.visitor(request, "judge")
        enrolled = self._store.people.is_enrolled(visitor.name) and not self._training.is_due(visitor.name)
        if not enrolled or not self._store.state().gives_tasks:
            return RedirectResponse("/", 303)
        try:
            lent = await run_in_threadpool(self._store.claim, visitor.name)
        except Refused as error:
            return self._site.message("Another judge is here", str(error), 409)
        if not lent:
            if self._store.progress(visitor.name).stage in ("lost", "barred"):
                return RedirectResponse("/", 303)
            until = await run_in_threadpool(self._store.wait, visitor.name, PATIENCE)
            back = self._site.shown.return_url, "Go back"
            if until is None:
                text = "All comparisons are assigned to judges. Thank you for coming."
                return self._site.message("Nothing left to judge", text, 200, *back)
            left = math.ceil((until - self._site.access.now()) / 60)
            text = self._words(WAIT, n=left)
            return self._site.message("Please wait for a place", text, 200, *back, again=AGAIN)
        return RedirectResponse("/item", 303)

    async def item(self, request: Request) -> Response:
        """The next open item."""
        visitor = self._site.visitor(request, "judge")
        progress = await self._progress(visitor)
        if not progress.open or not progress.state.gives_tasks:
            return RedirectResponse("/", 303)
        await run_in_threadpool(self._store.show, visitor.name, progress.open[0], 0)
        return self._item(visitor, progress, progress.open[0], 0, ItemForm({}))

    async def last(self, request: Request) -> Response:
        """The last answered item, to change it."""
        visitor = self._site.visitor(request, "judge")
        progress = await self._progress(visitor)
        if not progress.done or not progress.state.takes_answers or progress.stage == "barred":
            return RedirectResponse("/", 303)
        task = progress.done[-1]
        response, revision = self._store.latest(visitor.name, task)
        await run_in_threadpool(self._store.show, visitor.name, task, revision + 1)
        return self._item(
            visitor, progress, task, revision + 1, ItemForm(self._items.chosen(response), response.comment)
        )

    async def submit(self, request: Request) -> Response:
        """Record a response. The redirect confirms that it is on disk."""
        sent = await self._items.sent(request, "item")
        if sent.entered.problem:
            progress = await self._progress(sent.visitor)
            return self._item(sent.visitor, progress, sent.task, sent.revision, sent.entered)
        judgment = await self._items.judgment(sent)
        try:
            await run_in_threadpool(self._store.record, judgment, sent.revision)
        except Conflict as error:
            return self._site.message("Already answered", str(error), 409, "/item", "Continue")
        except Refused as error:
            return self._site.message("Not recorded", str(error), 409, "/", "Continue")
        await run_in_threadpool(self._stop_failing, sent.visitor.name, sent.task)
        return RedirectResponse("/item", 303)

    def _stop_failing(self, judge: str, task: str) -> None:
        """Keep a judge who fails the checks from going on, if the site says so."""
        key = self._site.key
        if not self._site.shown.stop_failing or key is None or key.tasks[task].kind == "pair":
            return
        rules = self._site.settings.rules if self._site.settings else ExclusionRules()
        if fails(self._study, key, self._store.responses(judge), rules):
            self._store.people.bar(judge, "failed checks")

    async def ask_to_withdraw(self, request: Request) -> Response:
        """The page on which a judge stops or withdraws."""
        visitor = self._site.visitor(request, "judge")
        progress, token = self._store.progress(visitor.name), self._site.access.form(visitor, "withdraw")
        values = {"study": self._study, "token": token, "done": len(progress.done), "open": len(progress.open)}
        return self._site.page("withdraw.html", values)

    async def withdraw(self, request: Request) -> Response:
        """Delete what the judge answered and told, or keep it and give the rest of the booklet to another."""
        visitor, form, _ = await self._site.sent(request, "judge", "withdraw")
        reason: Barred = "stopped" if form.get("keep") == "yes" else "withdrew"
        await run_in_threadpool(self._store.people.bar, visitor.name, reason)
        return RedirectResponse("/", 303)

    async def _progress(self, visitor: Visitor) -> JudgeProgress:
        """The judge's progress; renews the loan if due. Reading is too fast to need a thread."""
        progress = self._store.progress(visitor.name)
        if progress.renewal_due:
            await run_in_threadpool(self._store.renew, visitor.name)
        return progress

    def _item(self, visitor: Visitor, progress: JudgeProgress, task: str, revision: int, form: ItemForm) -> Response:
        tasks = (*progress.done, *progress.open)
        return self._items.page("item", visitor, task, revision, form, tasks, len(progress.done))


def device(agent: str) -> str:
    """The kind of device from a browser's name of itself: computer, phone, tablet, or "" if it names none."""
    if re.search(r"iPad|Tablet|Android(?!.*Mobile)", agent):
        return "tablet"
    if re.search(r"Mobi|iPhone", agent):
        return "phone"
    return "computer" if agent else ""
