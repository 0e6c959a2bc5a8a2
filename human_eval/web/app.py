"""The app: pages, what stands before them, and what an error looks like."""

from __future__ import annotations

import logging
import sqlite3

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from human_eval.web.access import Expired, NoAccess
from human_eval.web.admin import Admin
from human_eval.web.guard import Guard
from human_eval.web.judging import Judging
from human_eval.web.site import Site, message, static

log = logging.getLogger("human_eval")

_TOLD = {
    400: ("Not understood", "This form cannot be read."),
    404: ("Not found", "There is no such page."),
    405: ("Not found", "There is no such page."),
    408: ("Too slow", "The connection was too slow. Your answer was not recorded; please go back and send it again."),
    413: ("Too long", "This is too much text. Your answer was not recorded; please go back and shorten the comment."),
    429: ("A little slower", "That was too fast. Please wait some seconds, then go back and try again."),
}


def create_app(site: Site) -> Starlette:
    """The app of one study, as ASGI."""
    routes = [*Judging(site).routes(), *Admin(site).routes(), Route("/static/{name}", static)]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, origins=site.origins)],
        exception_handlers={
            NoAccess: _no_access,
            HTTPException: _told,
            sqlite3.Error: _not_recorded,
        },
    )


async def _no_access(request: Request, error: Exception) -> Response:
    heading = "This link has run out" if isinstance(error, Expired) else "No access"
    return message(heading, str(error), 401 if request.method == "GET" else 403)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    heading, text = _TOLD.get(error.status_code, ("Error", "This does not work."))
    return message(heading, text, error.status_code)


async def _not_recorded(request: Request, error: Exception) -> Response:
    """A full or lost disk: said aloud, and never taken for an answer that was saved."""
    log.error("the database fails: %s", error)
    told = "The server cannot write at the moment. Your answer was not recorded; please go back and send it again."
    return message("Not recorded", told, 503)
