"""The admin page, for the owner of the study: progress, agreement, checks, verdict; pause, close, export."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from human_eval.collection.practice import counts
from human_eval.collection.responses import Response as Judgment
from human_eval.collection.store import StudyState
from human_eval.web.access import NoAccess
from human_eval.web.site import Site, fields, page

COMMENTS = 50  # shown on the page


class Admin:
    """The admin's pages of a site."""

    def __init__(self, site: Site) -> None:
        self._site, self._store, self._study = site, site.store, site.study
        self._judged: tuple[Sequence[Judgment], tuple[list[str], list[str]]] | None = None  # the last verdict

    def routes(self) -> list[Route]:
        """Paths and their handlers."""
        return [
            Route("/admin/enter/{token}", self.enter),
            Route("/admin", self.show),
            Route("/admin/state", self.change, methods=["POST"]),
            Route("/admin/judgments.jsonl", self.export),
        ]

    async def enter(self, request: Request) -> Response:
        """The admin's link."""
        return self._site.welcome(self._site.holder(request, "admin"), "/admin")

    async def show(self, request: Request) -> Response:
        """The progress of the study."""
        visitor = self._site.visitor(request, "admin")
        overview, state = await run_in_threadpool(self._overview), await run_in_threadpool(self._store.state)
        values = {
            "study": self._study,
            "token": self._site.access.form(visitor, "admin"),
            "state": state,
            "with_key": self._site.key is not None,
            "duration": duration,
            "number": number,
            "overview": overview,
            "reasons": sorted({row.reason for row in overview["agreement"].values() if math.isnan(row.value)}),
            "planned": self._site.settings is not None,
            **await run_in_threadpool(self._people),
            "verdict": await run_in_threadpool(self._verdict, state),
        }
        return page("admin.html", values)

    async def change(self, request: Request) -> Response:
        """Pause, close or reopen the study."""
        visitor = self._site.visitor(request, "admin")
        form = await fields(request)
        self._site.access.shown(visitor, "admin", form.get("token", ""))
        state = form.get("state")
        if state not in get_args(StudyState):
            raise NoAccess("Unknown state of a study.")
        await run_in_threadpool(self._store.set_state, cast(StudyState, state))
        return RedirectResponse("/admin", 303)

    async def export(self, request: Request) -> Response:
        """All judgments so far, as `collect` would write them."""
        self._site.visitor(request, "admin")
        lines = "".join(response.to_json() + "\n" for response in await run_in_threadpool(self._store.responses))
        name = 'attachment; filename="judgments.jsonl"'
        return Response(lines, media_type="application/x-ndjson", headers={"content-disposition": name})

    def _verdict(self, state: StudyState) -> tuple[list[str], list[str]] | None:
        """Findings and warnings; None until results may be shown, since peeking invites optional stopping."""
        if self._site.key is None or (state != "closed" and not self._site.show_verdicts):
            return None
        from human_eval.web.overview import verdict

        responses = self._store.responses()
        if self._judged is None or self._judged[0] != responses:  # seconds of computation for a large study
            told = verdict(self._study, responses, self._site.key, self._site.settings) if responses else ([], [])
            self._judged = responses, told
        return self._judged[1]

    def _people(self) -> dict[str, Any]:
        """Devices of judges, how many do not go on for each reason, and the latest comments."""
        people, responses, training = self._store.people.all(), self._store.responses(), self._study.training
        return {
            "people": {person.judge: person for person in people},
            "barred": Counter(person.barred for person in people if person.barred),
            "trained": counts(training, self._store.practice.answers(), ()) if training else None,
            "comments": [response for response in responses if response.comment][-COMMENTS:],
        }

    def _overview(self) -> dict[str, Any]:
        from human_eval.web.overview import overview  # imports scipy, which would delay the start of the server

        responses, loans = self._store.responses(), self._store.loans()
        now, key, settings = self._site.access.now(), self._site.key, self._site.settings
        return overview(self._study, responses, loans, now, key, settings)


def number(value: float) -> str:
    """Two decimals; a hyphen for NaN."""
    return "-" if math.isnan(value) else f"{value:z.2f}"


def duration(seconds: float) -> str:
    """45 s, 3 min 20 s, 2 h 5 min; a hyphen for NaN."""
    if math.isnan(seconds):
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
