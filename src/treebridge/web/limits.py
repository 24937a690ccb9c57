"""How large a request may be, and what every answer says to the browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

MAX_BODY = 1 << 20
# What is read, and thrown away, of a request that is refused: closing a connection while the
# client still sends makes its system drop the answer, and people would see "connection reset".
LINGER_BYTES = 32 << 20
LINGER_SECONDS = 10.0
# Nothing from elsewhere, nothing inline but the styles of SVG: a text cannot become a script.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Limits:
    """ASGI middleware: refuses large bodies while they arrive, adds the headers."""

    def __init__(self, app: Any, max_body: int = MAX_BODY):
        self.app = app
        self.max_body = max_body

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, if it is small enough."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        too_large = not length.isdigit() or int(length) > self.max_body
        body, more = b"", True
        while more and not too_large:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            too_large, more = len(body) > self.max_body, message.get("more_body", False)
        if too_large:
            if more:
                await _read_on(receive)
            await _refuse(send_with_headers, self.max_body)
            return
        replayed = False

        async def replay() -> Any:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, send_with_headers)


async def _read_on(receive: Any) -> None:
    """Let a client that was refused finish, if that takes neither long nor many bytes."""

    async def to_the_end() -> None:
        read = 0
        while read < LINGER_BYTES:
            message = await receive()
            read += len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body"):
                return

    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(to_the_end(), LINGER_SECONDS)


async def _refuse(send: Any, limit: int) -> None:
    text = f"the request is larger than {limit:,} bytes; send less text at a time"
    body = json.dumps({"detail": text}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what is still coming then is not read
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
