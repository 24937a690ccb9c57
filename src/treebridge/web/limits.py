"""How large a request may be, and what every answer says to the browser."""

from __future__ import annotations

import json
from typing import Any

MAX_BODY = 1 << 20
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
        body = b""
        while not too_large:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            too_large = len(body) > self.max_body
            if not message.get("more_body"):
                break
        if too_large:
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


async def _refuse(send: Any, limit: int) -> None:
    text = f"the request is larger than {limit:,} bytes; send less text at a time"
    body = json.dumps({"detail": text}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what is still coming is not read
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
