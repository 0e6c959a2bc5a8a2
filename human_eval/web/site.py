"""What all pages share: the study, its store, who is asking, a form's fields, a page's HTML."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from human_eval.collection.store import Store
from human_eval.study import Key, Study
from human_eval.web.access import Access, NoAccess, Role, Visitor
from human_eval.web.guard import Limiter
from human_eval.wording import counted

BODY_LIMIT = 64 * 1024  # bytes of a form; comments are far shorter
FIELD_LIMIT = 100
BODY_SECONDS = 15.0
STATIC = ("style.css", "item.js", "icon.svg")

T = TypeVar("T")


@dataclass(frozen=True)
class Site:
    """One study as it is served. ``key`` only where it was given; ``completion``: where judges go last."""

    study: Study
    store: Store
    access: Access
    origins: tuple[str, ...]
    key: Key | None = None
    completion: str = ""
    show_verdicts: bool = False
    judges: Limiter = field(default_factory=lambda: Limiter(rate=10, burst=100))  # by name
    strangers: Limiter = field(default_factory=lambda: Limiter(rate=2, burst=100))  # by address, before a link is known

    def cookie(self, role: Role) -> str:
        """A name of its own for each study, because browsers share cookies among the ports of a host."""
        name = hashlib.sha256(self.study.id.encode()).hexdigest()[:10]
        return f"__Host-rlsum-{role}-{name}" if self.secure else f"rlsum-{role}-{name}"

    @property
    def secure(self) -> bool:
        """Whether judges reach the app by https."""
        return self.origins[0].startswith("https:")

    def visitor(self, request: Request, role: Role) -> Visitor:
        """Who is asking. Raises NoAccess where no valid cookie says so, HTTPException where they ask too often."""
        token = request.cookies.get(self.cookie(role))
        try:
            if token is None:
                raise NoAccess("Please open the link that you were given.")
            visitor = self.access.visitor(role, token)
        except NoAccess:
            self.count_stranger(request)
            raise
        if not self.judges.allows(f"{role} {visitor.name}"):
            raise HTTPException(429)
        return visitor

    def count_stranger(self, request: Request) -> None:
        """Raises HTTPException where an address tries too often."""
        if not self.strangers.allows(request.client.host if request.client else ""):
            raise HTTPException(429)

    def welcome(self, visitor: Visitor, to: str) -> Response:
        """Send the visitor on, known by a cookie from now on."""
        response = RedirectResponse(to, 303)
        response.set_cookie(
            self.cookie(visitor.role),
            self.access.link(visitor),
            max_age=max(1, int(visitor.expires - self.access.now())),
            httponly=True,
            secure=self.secure,
            samesite="lax",  # strict would keep it back on the way from a mail, where judges find their link
        )
        return response


async def off_thread(function: Callable[..., T], *values: Any) -> T:
    """What waits for the disk, without keeping other judges waiting."""
    return await run_in_threadpool(function, *values)


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises HTTPException for one that is too large, too slow or none."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_LIMIT:
                    raise HTTPException(413)
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELD_LIMIT, errors="strict")
    except TimeoutError as error:
        raise HTTPException(408) from error
    except ValueError as error:
        raise HTTPException(400) from error
    return dict(pairs)


def page(template: str, values: dict[str, Any], status: int = 200) -> HTMLResponse:
    """A page of this package; every value is escaped, a name that is missing is an error."""
    return HTMLResponse(_environment().get_template(template).render(values), status)


def message(heading: str, text: str, status: int, link: str = "", label: str = "") -> HTMLResponse:
    """A page that says one thing."""
    return page("message.html", {"heading": heading, "text": text, "link": link, "label": label}, status)


async def static(request: Request) -> Response:
    """One of our own few files: names are looked up, never joined to a path."""
    found = _files().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    content, kind, _ = found
    return Response(content, headers={"cache-control": "public, max-age=31536000, immutable"}, media_type=kind)


@lru_cache
def _files() -> dict[str, tuple[bytes, str, str]]:
    """Name -> content, type and version."""
    folder = resources.files("human_eval.web") / "static"
    found = {name: (folder / name).read_bytes() for name in STATIC}
    return {
        name: (content, mimetypes.guess_type(name)[0] or "text/plain", hashlib.sha256(content).hexdigest()[:12])
        for name, content in found.items()
    }


def _static_url(name: str) -> str:
    return f"/static/{name}?v={_files()[name][2]}"


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("human_eval.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"static": _static_url, "counted": counted}
    return environment
