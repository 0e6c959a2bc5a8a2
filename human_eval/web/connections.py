"""Connections that send nothing keep nobody out: a time limit for headers, and room for who asks."""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
MOST = 400  # connections


class PatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn has it, which waits for headers for ever and counts idle connections as load.

    A connection is idle until all headers of a request are there, and after its response. It is closed
    ``header_seconds`` after it was opened or a request began. A connection beyond ``most`` closes the one that has been
    idle for longest: sending half a request, byte by byte, makes nobody younger.
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
            others = (cast(PatientProtocol, other) for other in self.connections if other is not self)
            idle = [other for other in others if other._idle()]
            if idle:
                oldest = min(idle, key=lambda other: other._idle_since)
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
