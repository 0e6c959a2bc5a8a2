"""What all pages share: the study and its store, visitors and cookies, form fields, templates, static files."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from human_eval.collection.store import ResponseStore
from human_eval.formatting import counted
from human_eval.study import Interface, Study, StudyKey
from human_eval.web.access import Access, NoAccess, Role, ShownForm, Visitor
from human_eval.web.guard import Limiter
from human_eval.web.serving import Serving
from rlsum.pages.templates import environment

if TYPE_CHECKING:  # imports scipy, which would delay the start of the server
    from human_eval.statistics.settings import AnalysisSettings

BODY_LIMIT = 64 * 1024  # bytes of a form
FIELD_LIMIT = 1_000
ENGLISH = Interface()
BODY_SECONDS = 15.0
PAGES = environment("human_eval.web")
STATIC = ("style.css", "item.js", "marks.js", "icon.svg")


@dataclass(frozen=True)
class Site:
    """A study as it is served. ``key``: None if not given; ``settings``: of the analysis, from the plan, if any."""

    study: Study
    store: ResponseStore
    access: Access
    origins: tuple[str, ...]
    shown: Serving = field(default_factory=Serving)
    key: StudyKey | None = None
    settings: AnalysisSettings | None = None
    judges: Limiter = field(default_factory=lambda: Limiter(rate=10, burst=100))  # by role and name
    addresses: Limiter = field(default_factory=lambda: Limiter(rate=2, burst=100))  # for requests without a valid link

    def cookie(self, role: Role) -> str:
        """The name of a cookie. It depends on the study, because browsers share cookies between the ports of a host."""
        name = hashlib.sha256(self.study.id.encode()).hexdigest()[:10]
        return f"__Host-rlsum-{role}-{name}" if self.secure else f"rlsum-{role}-{name}"

    @property
    def secure(self) -> bool:
        """Whether judges reach the app over https."""
        return self.origins[0].startswith("https:")

    def known(self, request: Request, role: Role) -> Visitor:
        """The visitor whose cookie this browser has. Raises NoAccess without a valid cookie."""
        token = request.cookies.get(self.cookie(role))
        if token is None:
            raise NoAccess("Please open the link that you received.")
        return self.access.visitor(role, token)

    def visitor(self, request: Request, role: Role) -> Visitor:
        """The visitor. Raises NoAccess without a valid cookie, HTTPException for too many requests."""
        try:
            visitor = self.known(request, role)
        except NoAccess:
            self._limit_address(request)
            raise
        if not self.judges.allows(f"{role} {visitor.name}"):
            raise HTTPException(429)
        return visitor

    async def sent(self, request: Request, role: Role, form: str) -> tuple[Visitor, dict[str, str], ShownForm]:
        """Who sent a form, its fields and what its token says. Raises as `visitor`, `fields` and `Access.shown`."""
        visitor, values = self.visitor(request, role), await fields(request)
        return visitor, values, self.access.shown(visitor, form, values.get("token", ""))

    def holder(self, request: Request, role: Role) -> Visitor:
        """The holder of the link in the path. Raises NoAccess, HTTPException for too many wrong links.

        Wrong links do not use up an address for right ones: a class may share it.
        """
        try:
            return self.access.visitor(role, request.path_params["token"])
        except NoAccess:
            self._limit_address(request)
            raise

    def _limit_address(self, request: Request) -> None:
        if not self.addresses.allows(request.client.host if request.client else ""):
            raise HTTPException(429)

    def welcome(self, visitor: Visitor, to: str) -> Response:
        """Set the visitor's cookie and redirect."""
        response = RedirectResponse(to, 303)
        response.set_cookie(
            self.cookie(visitor.role),
            self.access.link(visitor),
            max_age=max(1, int(visitor.expires - self.access.now())),
            httponly=True,
            secure=self.secure,
            samesite="lax",  # with strict, links in e-mails would not work
        )
        return response

    def page(
        self, template: str, values: dict[str, Any], status: int = 200, interface: Interface | None = None
    ) -> HTMLResponse:
        """Render a template of this package, in the study's language unless ``interface`` is given.

        Values are escaped; an undefined name is an error.
        """
        t = interface or self.study.interface
        words = {"t": t, "language": t.language, "counted": counted, "static": _address}
        return HTMLResponse(PAGES.get_template(f"templates/{template}").render({**values, **words}), status)

    def message(
        self,
        heading: str,
        text: str,
        status: int,
        link: str = "",
        label: str = "",
        again: int = 0,
        interface: Interface | None = None,
    ) -> HTMLResponse:
        """A page with a heading, a text and possibly a link.

        ``again``: seconds until the browser asks for it again, 0 for never.
        """
        values = {"heading": heading, "text": text, "link": link, "label": label, "again": again}
        return self.page("message.html", values, status, interface)


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises HTTPException for a body that is too large, too slow or not a form."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_LIMIT:
                    raise HTTPException(413)
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELD_LIMIT, errors="strict"))
    except TimeoutError as error:
        raise HTTPException(408) from error
    except ValueError as error:
        raise HTTPException(400) from error


async def static(request: Request) -> Response:
    """A static file. The name is looked up, never joined to a path."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(_content(name), headers=headers, media_type=mimetypes.guess_type(name)[0])


@cache
def _content(name: str) -> bytes:
    return (resources.files("human_eval.web") / "static" / name).read_bytes()


@cache
def _address(name: str) -> str:
    """The path of a static file, which changes with its content."""
    return f"/static/{name}?v={hashlib.sha256(_content(name)).hexdigest()[:12]}"
