"""Limits on requests, and security headers for every response."""

from __future__ import annotations

import asyncio
import contextlib
from hmac import compare_digest
from typing import Any

from treebridge.web.hosts import is_allowed
from treebridge.web.refusal import Refused
from treebridge.web.settings import ServerSettings

MAX_BODY = 1 << 20
# The rest of a refused request is read and discarded up to these limits: a connection closed while
# the client is still sending shows up there as "connection reset", not as our response.
LINGER_BYTES = 32 << 20
LINGER_SECONDS = 10.0
# Nothing from other sites and nothing inline, so text can never run as a script.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Limits:
    """ASGI middleware: refuse unknown host names and large or slow bodies; add the headers.

    With a token, everything but the `public` paths needs it.
    """

    def __init__(
        self,
        app: Any,
        settings: ServerSettings,
        max_body: int = MAX_BODY,
        public: frozenset[str] = frozenset(),
    ):
        self.app = app
        self.settings = settings
        self.max_body = max_body
        self.public = public

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on a request with its complete body, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        try:
            self._check(dict(scope["headers"]), scope.get("path", ""))
            body = await self._read(receive)
        except Refused as refused:
            if refused.unread:
                await _read_on(receive)
            await refused.send(send_with_headers)
            return
        if body is None:
            return  # the client disconnected
        replayed = False

        async def replay() -> Any:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, send_with_headers)

    def _check(self, headers: dict[bytes, bytes], path: str) -> None:
        """Check the host name, the token and the declared length."""
        hosts = self.settings.hosts
        if not is_allowed(headers.get(b"host", b"").decode("latin-1"), hosts):
            known = ", ".join(hosts)
            raise Refused(
                421,
                f"this server answers only to {known}; ask its operator to allow your host name",
                unread=True,
            )
        if self.settings.token and path not in self.public:
            given = headers.get(b"authorization", b"")
            if not compare_digest(given, b"Bearer " + self.settings.token.encode()):
                text = "this server needs its token; open the address that it printed at its start"
                raise Refused(401, text, unread=True)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.max_body:
            raise self._too_large(unread=True)

    async def _read(self, receive: Any) -> bytes | None:
        """Read the complete body; None if the client disconnected."""
        seconds = self.settings.body_timeout

        async def read() -> bytes | None:
            body, more = bytearray(), True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > self.max_body:
                    raise self._too_large(unread=more)
            return bytes(body)

        try:
            return await asyncio.wait_for(read(), seconds)
        except asyncio.TimeoutError:
            raise Refused(408, f"incomplete request after {seconds:g} seconds") from None

    def _too_large(self, *, unread: bool) -> Refused:
        text = f"the request is larger than {self.max_body:,} bytes; send less text at a time"
        return Refused(413, text, unread=unread)


async def _read_on(receive: Any) -> None:
    """Read the rest of a refused request, within limits."""

    async def to_the_end() -> None:
        read = 0
        while read < LINGER_BYTES:
            message = await receive()
            read += len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body"):
                return

    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(to_the_end(), LINGER_SECONDS)
