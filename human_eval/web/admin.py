"""The admin page, for the owner of the study: progress, agreement, checks, verdict; pause, close, export."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from human_eval.collection.practice import counts
from human_eval.collection.responses import Response as Judgment
from human_eval.collection.store import StudyState
from human_eval.formatting import csv_text
from human_eval.study import CHECKS, Study, StudyKey
from human_eval.web.access import NoAccess
from human_eval.web.judging import PATIENCE
from human_eval.web.site import ENGLISH, Site
from rlsum.errors import UserError

if TYPE_CHECKING:
    from human_eval.statistics.settings import AnalysisSettings

COMMENTS = 50  # shown on the page


class Admin:
    """The admin's pages of a site."""

    def __init__(self, site: Site) -> None:
        self._site, self._store, self._study = site, site.store, site.study
        kinds = {task.kind for task in site.key.tasks.values()} if site.key else set()
        self._fails = [f"by {how}" for kind, how in CHECKS.items() if kind in kinds]
        self._judged: tuple[Sequence[Judgment], tuple[list[str], list[str]]] | None = None  # the last verdict

    def routes(self) -> list[Route]:
        """Paths and their handlers."""
        return [
            Route("/admin/enter/{token}", self.enter),
            Route("/admin", self.show),
            Route("/admin/state", self.change, methods=["POST"]),
            Route("/admin/judge", self.settle, methods=["POST"]),
            Route("/admin/judgments.jsonl", self.export),
            Route("/admin/judges.csv", self.people),
        ]

    async def enter(self, request: Request) -> Response:
        """The admin's link."""
        return self._site.welcome(self._site.holder(request, "admin"), "/admin")

    async def show(self, request: Request) -> Response:
        """The progress of the study."""
        visitor = self._site.visitor(request, "admin")
        values = await run_in_threadpool(self._values)
        values["token"] = self._site.access.form(visitor, "admin")
        return self._site.page("admin.html", values, interface=ENGLISH)

    def _values(self) -> dict[str, Any]:
        from human_eval.web.overview import overview  # imports scipy, which would delay the start of the server

        site, store, training = self._site, self._store, self._study.training
        state = store.state()
        progress = overview(self._study, store, site.access.now(), site.key, site.settings)
        responses, people = progress["responses"], progress["people"]
        return {
            "rows": progress["rows"],
            "waiting": store.waiting(PATIENCE),
            "study": self._study,
            "state": state,
            "with_key": site.key is not None,
            "fails": self._fails,
            "planned": site.settings is not None,
            "duration": duration,
            "number": number,
            "overview": progress,
            "reasons": sorted({row.reason for row in progress["agreement"].values() if math.isnan(row.value)}),
            "by_judge": {row.judge: row for row in progress["judges"]},
            "barred": Counter(person.barred for person in people if person.barred),
            "trained": counts(training, store.practice.answers(), ()) if training else None,
            "comments": [response for response in responses if response.comment][-COMMENTS:],
            "verdict": self._verdict(state, responses),
        }

    async def change(self, request: Request) -> Response:
        """Pause, close or reopen the study."""
        _, form, _ = await self._site.sent(request, "admin", "admin")
        try:
            state = StudyState(form.get("state", ""))
        except ValueError as error:
            raise NoAccess("Unknown state of a study.") from error
        await run_in_threadpool(self._store.set_state, state)
        return RedirectResponse("/admin", 303)

    async def settle(self, request: Request) -> Response:
        """Take a booklet from a judge, ban a judge or let one go on."""
        _, form, _ = await self._site.sent(request, "admin", "admin")
        judge, action = form.get("judge", ""), form.get("action")
        if action == "ban":
            await run_in_threadpool(self._store.people.bar, judge, "banned")
        elif action == "admit":
            await run_in_threadpool(self._store.people.admit, judge)
        elif action == "release":
            lent = [loan.booklet for loan in self._store.loans() if loan.judge == judge]
            await run_in_threadpool(self._store.release, lent)
        else:
            raise NoAccess("Unknown action.")
        return RedirectResponse("/admin", 303)

    async def people(self, request: Request) -> Response:
        """Everyone who came, what to do with their submission and why."""
        self._site.visitor(request, "admin")
        rows = (await run_in_threadpool(self._values))["rows"]
        text = csv_text([list(rows[0]) if rows else [], *([*row.values()] for row in rows)])
        headers = {"content-disposition": 'attachment; filename="judges.csv"'}
        return Response(text, media_type="text/csv", headers=headers)

    async def export(self, request: Request) -> Response:
        """All judgments so far, as `collect` would write them."""
        self._site.visitor(request, "admin")
        lines = "".join(response.to_json() + "\n" for response in await run_in_threadpool(self._store.responses))
        name = 'attachment; filename="judgments.jsonl"'
        return Response(lines, media_type="application/x-ndjson", headers={"content-disposition": name})

    def _verdict(self, state: StudyState, responses: Sequence[Judgment]) -> tuple[list[str], list[str]] | None:
        """Findings and warnings; None until results may be shown, since peeking invites optional stopping."""
        if self._site.key is None or (state.takes_answers and not self._site.shown.show_verdicts):
            return None
        if self._judged is None or self._judged[0] != responses:  # seconds of computation for a large study
            verdict = _verdict(self._study, responses, self._site.key, self._site.settings) if responses else ([], [])
            self._judged = responses, verdict
        return self._judged[1]


def _verdict(
    study: Study, responses: Sequence[Judgment], key: StudyKey, settings: AnalysisSettings | None
) -> tuple[list[str], list[str]]:
    """The findings and warnings that `rlsum human-eval analyse` gives; why there are none if it cannot be made."""
    from human_eval.report.findings import findings
    from human_eval.report.warnings import warnings
    from human_eval.statistics.analysis import analyse
    from human_eval.statistics.settings import AnalysisSettings
    from human_eval.votes.unblind import unblind

    try:
        analysis = analyse(unblind(study, key, responses), settings or AnalysisSettings())
    except UserError as error:  # such as: all judges are excluded
        return [f"No verdict: {error}."], []
    return findings(analysis), warnings(analysis)


def number(value: float) -> str:
    """Two decimals; a hyphen for NaN."""
    return "-" if math.isnan(value) else f"{value:z.2f}"


def duration(seconds: float) -> str:
    """45 s, 3 min 20 s, 2 h 5 min; a hyphen for NaN."""
    if math.isnan(seconds):
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
