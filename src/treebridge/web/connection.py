"""Time limits on a client's connection, and a limit on open connections.

uvicorn only closes connections that are idle between two requests. A client that sends a header
byte by byte, or never reads the response, would hold one forever. (`limits` times the bodies.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from treebridge.web.refusal import Refused
from treebridge.web.settings import ServerSettings

LINGER = 1.0  # seconds for a refused client to read the response


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with timeouts."""

    def __init__(self, *arguments: Any, settings: ServerSettings, **named: Any):
        super().__init__(*arguments, **named)
        self._settings = settings
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the header timeout, or refuse the connection if too many are open."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # report every unread byte
        if len(self.connections) <= self._settings.connections:
            self._watch_header()
        elif len(self.connections) <= 2 * self._settings.connections:
            self._refused = True
            transport.write(Refused(503, "too many connections are open; try again later").raw())
            # If we closed now, a request in flight would make the client discard the response.
            transport.write_eof()
            self._start("refusal", LINGER, transport.abort)
        else:
            transport.abort()  # too many even to send a refusal

    def data_received(self, data: bytes) -> None:
        """Pass bytes on and check whether the header is complete."""
        if not self._refused:
            super().data_received(data)
            self._watch_header()

    def pause_writing(self) -> None:
        """Start the timeout for a response that the client does not read."""
        super().pause_writing()
        self._start("answer", self._settings.answer_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the response timeout."""
        super().resume_writing()
        self._stop("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timeouts."""
        super().connection_lost(exc)
        for name in list(self._timers):
            self._stop(name)

    def _watch_header(self) -> None:
        """Time a header from its first moment to its last byte.

        Between requests uvicorn's own limit on idle connections applies.
        """
        if self.conn.their_state is h11.IDLE:
            self._start("header", self._settings.header_timeout, self._header_is_late)
        else:
            self._stop("header")

    def _header_is_late(self) -> None:
        seconds = self._settings.header_timeout
        self.transport.write(Refused(408, f"incomplete header after {seconds:g} seconds").raw())
        self.transport.close()

    def _start(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, action)

    def _stop(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()
