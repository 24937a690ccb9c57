"""Error responses sent before a request reaches the application."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

Headers = list[tuple[bytes, bytes]]


class Refused(Exception):
    """A refused request, with the reason in one sentence."""

    def __init__(self, status: int, text: str, *, unread: bool = False):
        super().__init__(text)
        self.status = status
        self.unread = unread  # the rest of the request has not been read
        self.body = json.dumps({"detail": text}).encode()

    def headers(self) -> Headers:
        """Response headers; the connection is closed afterwards."""
        return [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
            (b"connection", b"close"),
            *([(b"retry-after", b"1")] if self.status == 503 else []),
        ]

    async def send(self, send: Any) -> None:
        """Send the response through ASGI."""
        await send(
            {"type": "http.response.start", "status": self.status, "headers": self.headers()}
        )
        await send({"type": "http.response.body", "body": self.body})

    def raw(self) -> bytes:
        """The response as bytes, for a connection without a complete request."""
        status = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode()
        lines = [status, *(name + b": " + value for name, value in self.headers())]
        return b"\r\n".join([*lines, b"", self.body])
