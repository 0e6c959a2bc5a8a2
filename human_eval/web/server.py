"""The app: routes and error pages; its addresses and links; the socket and the server."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from human_eval.collection.store import ResponseStore
from human_eval.web.access import Access, Expired, NoAccess, Role, Visitor
from human_eval.web.admin import Admin
from human_eval.web.guard import Guard, PatientProtocol
from human_eval.web.judging import Judging
from human_eval.web.site import ENGLISH, Site, static
from rlsum.errors import UserError

DAY = 24 * 3600.0
PORTS = {"http": 80, "https": 443}

log = logging.getLogger("human_eval")

_ERRORS = {
    400: ("Bad request", "This form cannot be read."),
    **dict.fromkeys((404, 405), ("Not found", "There is no such page.")),
    408: ("Too slow", "The connection was too slow. Your answer was not recorded. Please go back and send it again."),
    413: ("Too long", "The text is too long. Your answer was not recorded. Please go back and shorten the comment."),
    429: ("Too many requests", "Please wait a few seconds, then go back and try again."),
}


@dataclass(frozen=True)
class Links:
    """The links of a study: judge -> personal link, the invitation, the admin's link."""

    judges: dict[str, str]
    everyone: str
    admin: str


def origins(host: str, port: int, public_url: str | None) -> tuple[str, ...]:
    """The addresses of the app, the one used in links first.

    Raises UserError for a host that other machines can reach if ``public_url`` is not given.
    """
    if public_url is not None:
        return (_checked_url(public_url),)
    if not _is_loopback(host):
        raise UserError(
            f"--host {host}: other machines can reach it; give their address with --public-url, such as "
            "https://judge.example.org (a proxy with TLS) or http://ADDRESS:PORT (not encrypted)"
        )
    named = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((f"http://{named}:{port}", f"http://127.0.0.1:{port}", f"http://localhost:{port}")))


def make_links(store: ResponseStore, address: str, judges: list[str], days: float) -> Links:
    """Signed links that expire after ``days``. They are not stored, and earlier links stay valid."""
    access = Access(store)
    expires = float(int(time.time() + days * DAY))

    def token(role: Role, name: str = "") -> str:
        return access.link(Visitor(role, name, expires))

    return Links(
        {judge: f"{address}/judge/{token('judge', judge)}" for judge in judges},
        f"{address}/join/{token('everyone')}",
        f"{address}/admin/enter/{token('admin')}",
    )


def bind(host: str, port: int) -> socket.socket:
    """The listening socket. Raises UserError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, asyncio turns off Nagle's algorithm, which would delay pages by 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(1024)  # requests wait from here on until the server is up
    except (OSError, OverflowError) as error:
        bound.close()
        raise UserError(f"--host {host} --port {port}: cannot be used ({error}); choose another --port") from error
    return bound


def create_app(site: Site) -> Starlette:
    """The app of one study, as ASGI."""
    routes = [*Judging(site).routes(), *Admin(site).routes(), Route("/static/{name}", static)]

    async def error_page(request: Request, error: Exception) -> Response:
        return site.message(*_told(request, error), interface=ENGLISH)

    handlers = dict.fromkeys((NoAccess, HTTPException, sqlite3.Error), error_page)
    return Starlette(routes=routes, middleware=[Middleware(Guard, origins=site.origins)], exception_handlers=handlers)


def _told(request: Request, error: Exception) -> tuple[str, str, int]:
    """Heading, text and status of the page of an error."""
    if isinstance(error, NoAccess):
        heading = "This link has expired" if isinstance(error, Expired) else "No access"
        return heading, str(error), 401 if request.method == "GET" else 403
    if isinstance(error, HTTPException):
        return *_ERRORS.get(error.status_code, ("Error", "The request failed.")), error.status_code
    log.error("the database fails: %s", error)  # the disk is full or missing
    text = "The server cannot write at the moment. Your answer was not recorded. Please go back and send it again."
    return "Not recorded", text, 503


def run(site: Site, bound: socket.socket, behind_proxy: bool, announce: Callable[[], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Requests are not logged, because their paths contain signed links.

    ``announce`` is called once these signals are handled.
    """
    config = uvicorn.Config(
        create_app(site),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,  # the rate limit then uses the address that the local proxy reports
        forwarded_allow_ips="127.0.0.1",
        http=PatientProtocol,
        limit_concurrency=500,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
        ws="none",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    try:
        with _stopped_by_signals(server):
            announce()
            server.run(sockets=[bound])
    finally:
        site.store.close()


@contextlib.contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Signals end the server in order, also before it has begun.

    uvicorn does not handle SIGHUP, and raises the others again after its end, which would kill the process before the
    database is closed.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    handled = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
        handled.append(signal.SIGHUP)
    before = {name: signal.signal(name, stop) for name in handled}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _checked_url(url: str) -> str:
    """The origin as browsers write it: lower case, without the default port."""
    fault = UserError(f"--public-url {url}: expected http(s)://HOST or http(s)://HOST:PORT, without a path")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise fault from error
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme not in ("http", "https") or not host or more:
        raise fault
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, PORTS[parts.scheme]) else "")
