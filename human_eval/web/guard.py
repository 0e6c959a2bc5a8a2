"""Checks of host and origin, security headers, and rate limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
