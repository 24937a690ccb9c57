"""A client's connection: how long it may keep us waiting, and how many there may be.

uvicorn only ends connections that are idle between two requests. Whoever sends a header byte by
byte, or never takes the answer, would keep one for ever. (Bodies are timed in `limits`.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from treebridge.web.refusal import Refused
from treebridge.web.settings import ServerSettings

LINGER = 1.0  # seconds for a client to hear that there are too many


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, by the clock."""

    def __init__(self, *arguments: Any, settings: ServerSettings, **named: Any):
        super().__init__(*arguments, **named)
        self._settings = settings
        self._clocks: dict[str, asyncio.TimerHandle] = {}
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first header, or refuse one connection too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that we hear of every byte that is not taken
        if len(self.connections) <= self._settings.connections:
            self._watch_header()
        elif len(self.connections) <= 2 * self._settings.connections:
            self._refused = True
            transport.write(Refused(503, "too many connections are open; try again").raw())
            # Closing now would make the client's system drop the answer once a request arrives.
            transport.write_eof()
            self._start("refusal", LINGER, transport.abort)
        else:
            transport.abort()  # there is not even room to say no

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, and see whether the header is whole now."""
        if not self._refused:
            super().data_received(data)
            self._watch_header()

    def pause_writing(self) -> None:
        """Start the clock for an answer that the client does not take."""
        super().pause_writing()
        self._start("answer", self._settings.answer_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """The answer is on its way."""
        super().resume_writing()
        self._stop("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        super().connection_lost(exc)
        for name in list(self._clocks):
            self._stop(name)

    def _watch_header(self) -> None:
        """The clock runs from the first moment of a header to its last byte, and is not put back.

        Between two requests it stands; uvicorn ends connections that are idle for too long.
        """
        if self.conn.their_state is h11.IDLE:
            self._start("header", self._settings.header_timeout, self._header_is_late)
        else:
            self._stop("header")

    def _header_is_late(self) -> None:
        seconds = self._settings.header_timeout
        self.transport.write(Refused(408, f"no whole header within {seconds:g} seconds").raw())
        self.transport.close()

    def _start(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        if name not in self._clocks:
            self._clocks[name] = self.loop.call_later(seconds, action)

    def _stop(self, name: str) -> None:
        if clock := self._clocks.pop(name, None):
            clock.cancel()
