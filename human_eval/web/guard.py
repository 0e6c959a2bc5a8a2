"""What keeps the app safe and open: host and origin, security headers, rate limits, limits of idle connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import ClassVar, cast
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
MOST = 400  # connections
HEADERS = {
    # Only the app's own files: a script in a summary cannot run, and nothing is fetched from other sites.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    # With no-referrer, browsers would send "Origin: null" with the app's own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
}


class Guard:
    """Refuses requests to other hosts (421) and posts from other origins (403); adds ``HEADERS`` to every response.

    ``origins``: the addresses of the app, such as http://127.0.0.1:8765.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._hosts = frozenset(urlsplit(origin).netloc for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This address is not served here.", 421)
        if method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Not allowed.", 405, {"allow": "GET, HEAD, POST"})
        if method == "POST" and headers.get("origin") not in self._origins:
            return PlainTextResponse("This form was sent from another site.", 403)
        return None


class Limiter:
    """Token buckets by name: ``burst`` requests at once, ``rate`` a second on average."""

    def __init__(self, rate: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._buckets: dict[str, tuple[float, float]] = {}  # name -> tokens left, and when

    def allows(self, name: str) -> bool:
        """Take a token if there is one."""
        now = self._now()
        left, then = self._buckets.pop(name, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._rate)
        if len(self._buckets) >= 10_000:
            del self._buckets[next(iter(self._buckets))]  # the one unused for longest
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        return left >= 1


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which alone would wait for headers without limit and count idle connections as load.

    A connection is idle until all headers of a request are there, and after its response. It is closed
    ``header_seconds`` after it was opened or a request began. A connection beyond ``most`` closes the one that has been
    idle for longest: the bytes of half a request do not end its idle time.
    """

    header_seconds: ClassVar[float] = HEADER_SECONDS
    most: ClassVar[int] = MOST

    _idle_since = 0.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """asyncio."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            others = (cast(PatientProtocol, peer) for peer in self.connections if peer is not self)
            idle = [peer for peer in others if peer._idle()]
            if idle:
                oldest = min(idle, key=lambda peer: peer._idle_since)
                self.connections.discard(oldest)  # abort takes effect later, when more may have come
                oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """asyncio."""
        super().data_received(data)
        if not self._idle():
            self._stop_waiting()
        elif self._deadline is None:  # the headers of another request begin
            self._wait()

    def on_response_complete(self) -> None:
        """uvicorn: from here on its own limit for idle connections applies."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        self._idle_since = self._idle_since or self.loop.time()
        self._deadline = self.loop.call_later(self.header_seconds, self._close_if_idle)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_idle(self) -> None:
        self._deadline = None
        if self._idle():
            self.transport.abort()
