"""The app: routes, middleware and error pages."""

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

_ERRORS = {
    400: ("Bad request", "This form cannot be read."),
    404: ("Not found", "There is no such page."),
    405: ("Not found", "There is no such page."),
    408: ("Too slow", "The connection was too slow. Your answer was not recorded. Please go back and send it again."),
    413: ("Too long", "The text is too long. Your answer was not recorded. Please go back and shorten the comment."),
    429: ("Too many requests", "Please wait a few seconds, then go back and try again."),
}


def create_app(site: Site) -> Starlette:
    """The app of one study, as ASGI."""
    routes = [*Judging(site).routes(), *Admin(site).routes(), Route("/static/{name}", static)]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, origins=site.origins)],
        exception_handlers={
            NoAccess: _no_access,
            HTTPException: _http_error,
            sqlite3.Error: _not_recorded,
        },
    )


async def _no_access(request: Request, error: Exception) -> Response:
    heading = "This link has expired" if isinstance(error, Expired) else "No access"
    return message(heading, str(error), 401 if request.method == "GET" else 403)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    heading, text = _ERRORS.get(error.status_code, ("Error", "The request failed."))
    return message(heading, text, error.status_code)


async def _not_recorded(request: Request, error: Exception) -> Response:
    """The disk is full or missing."""
    log.error("the database fails: %s", error)
    text = "The server cannot write at the moment. Your answer was not recorded. Please go back and send it again."
    return message("Not recorded", text, 503)
