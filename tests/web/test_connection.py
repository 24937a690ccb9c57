"""Slow clients, too many clients and unknown host names, tested with real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from running import running

from treebridge.corpus.input import Reading
from treebridge.web import connection as connection_module
from treebridge.web.app import create_app
from treebridge.web.hosts import allowed_hosts, is_allowed
from treebridge.web.limits import Limits
from treebridge.web.models import Models, Served
from treebridge.web.settings import ServerSettings

HASTY = ServerSettings(
    connections=12, header_timeout=0.6, body_timeout=0.6, answer_timeout=0.6,
    hosts=allowed_hosts("127.0.0.1", "127.0.0.1"),
)  # fmt: skip


def idle_models() -> Models:
    known = SimpleNamespace(about={}, bridge=None, language=None)
    return Models([Served("m", known)])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def hasty() -> Iterator[str]:
    with running(create_app(idle_models(), HASTY), HASTY) as address:
        yield address


def connect(address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=20)


def answer(connection: socket.socket) -> tuple[int, str]:
    """Status and detail of a response after which the server closes the connection."""
    received = b""
    while block := connection.recv(1 << 16):
        received += block
    header, _, body = received.partition(b"\r\n\r\n")
    assert b"connection: close" in header.lower()
    return int(header.split()[1]), json.loads(body)["detail"]


def is_well(connection: socket.socket) -> bool:
    """Request `/health` over a connection that stays open."""
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    received = b""
    while not received.endswith(b"}"):  # header and body may arrive separately
        block = connection.recv(1 << 16)
        if not block:
            return False
        received += block
    return received.startswith(b"HTTP/1.1 200")


def drip(connection: socket.socket, data: bytes, seconds: float = 20) -> float:
    """Send one byte at a time until the server responds; return the seconds it took."""
    began = time.monotonic()
    with contextlib.suppress(OSError):
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)
            if time.monotonic() - began > seconds:
                break
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.recv(1, socket.MSG_PEEK)
                break
            connection.settimeout(20)
    connection.settimeout(20)
    return time.monotonic() - began


def test_headers_that_never_end(hasty: str) -> None:
    slow = [connect(hasty) for _ in range(10)]
    for number, connection in enumerate(slow):
        connection.sendall(b"GET /health HTTP/1.1\r\nHost:"[:number])  # nothing, a byte, more
    assert httpx.get(f"{hasty}/health").status_code == 200  # others are still served
    for connection in slow:
        assert answer(connection) == (408, "incomplete header after 0.6 seconds")
        connection.close()


def test_a_byte_now_and_then_does_not_help(hasty: str) -> None:
    with connect(hasty) as connection:
        assert 0.4 < drip(connection, b"GET /health HTTP/1.1\r\nX: " + b"x" * 400) < 15
        assert answer(connection)[0] == 408


def test_idle_between_requests_is_no_offence_but_a_slow_second_header_is(hasty: str) -> None:
    with connect(hasty) as connection:
        for _ in range(2):
            assert is_well(connection)
            time.sleep(0.9)
        connection.sendall(b"G")
        assert answer(connection)[0] == 408


def test_a_body_that_never_ends(hasty: str) -> None:
    with connect(hasty) as connection:
        connection.sendall(
            b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
        )
        assert 0.4 < drip(connection, b"x" * 400) < 15
        assert answer(connection) == (408, "incomplete request after 0.6 seconds")


def test_one_connection_too_many(hasty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Excess connections get a response, a flood is cut off, and then the server recovers."""
    monkeypatch.setattr(connection_module, "LINGER", 0.3)
    with contextlib.ExitStack() as opened:
        kept = [opened.enter_context(connect(hasty)) for _ in range(HASTY.connections)]
        assert all(map(is_well, kept))  # idle from now on, but accepted
        refused = httpx.get(f"{hasty}/health")
        assert refused.status_code == 503 and refused.headers["Retry-After"] == "1"
        assert refused.json()["detail"] == "too many connections are open; try again later"
        silent = connect(hasty)  # sends nothing
        assert answer(silent)[0] == 503
        time.sleep(0.6)
        with pytest.raises(OSError):  # reset, or a broken pipe
            for _ in range(2):
                silent.sendall(b"G")
                time.sleep(0.2)
        crowd = [opened.enter_context(connect(hasty)) for _ in range(3 * HASTY.connections)]
        cut = 0
        for connection in crowd:
            try:
                cut += not connection.recv(10)
            except ConnectionResetError:
                cut += 1
        assert cut >= HASTY.connections
        assert all(map(is_well, kept))  # accepted ones are not affected
    until = time.monotonic() + 10
    while httpx.get(f"{hasty}/health").status_code != 200:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_large_body_that_has_arrived_is_not_waited_for() -> None:
    sent: list[dict[str, Any]] = []

    async def ask() -> None:
        arriving = [{"type": "http.request", "body": b"x" * 10, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not arriving:
                await asyncio.sleep(60)  # like a client waiting for its response
            return arriving.pop()

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        limits = Limits(None, ServerSettings(), max_body=5)
        await asyncio.wait_for(limits({"type": "http", "headers": []}, receive, send), 3)

    asyncio.run(ask())
    assert sent[0]["status"] == 413


@pytest.mark.parametrize("size", [50 << 20, 60_000])
def test_an_answer_that_nobody_takes(size: int) -> None:
    """One larger and one smaller than asyncio's default write buffer (64 kB)."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            body = bytes(size if scope["path"] == "/" else 1000)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})

    with running(app, HASTY, buffer=4096) as address, socket.socket() as lazy:  # type: ignore[arg-type]
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.settimeout(20)
        lazy.connect(("127.0.0.1", urlsplit(address).port))
        lazy.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(1.5)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while block := lazy.recv(1 << 20):
                taken += len(block)
        assert taken < size // 2
        assert len(httpx.get(f"{address}/short").content) == 1000


def test_a_foreign_name_is_refused(hasty: str) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example"):
        for method, body in (("GET", b""), ("POST", b'{"text": "a"}')):
            foreign = httpx.request(method, f"{hasty}/health", headers={"Host": host}, content=body)
            assert foreign.status_code == 421
            assert foreign.json()["detail"].startswith("this server answers only to localhost, 127")
    for host in ("localhost", "localhost:1", "127.0.0.1:9000", "[::1]:80", "LOCALHOST"):
        assert httpx.get(f"{hasty}/health", headers={"Host": host}).status_code == 200
    with connect(hasty) as connection:  # HTTP/1.0 does not require a host name; we do
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert answer(connection)[0] == 421


def test_names_by_address() -> None:
    local = ("localhost", "127.0.0.1", "[::1]")
    assert allowed_hosts("127.0.0.1", "localhost") == local
    assert allowed_hosts("127.0.0.5", "127.0.0.5") == (*local, "127.0.0.5")
    assert allowed_hosts("::1", "::1") == local
    assert allowed_hosts("127.0.0.1", "127.0.0.1", ["Trees.example"]) == (*local, "trees.example")
    assert allowed_hosts("0.0.0.0", "0.0.0.0") == () and is_allowed("any.example", ())
    assert is_allowed("trees.example", allowed_hosts("0.0.0.0", "0.0.0.0", ["trees.example"]))
    for wrong in (
        "",
        ":",
        "[::1",
        "::1",
        "localhost:x",
        "localhost:80:80",
        "local\thost",
        "a@localhost",
    ):
        assert not is_allowed(wrong, local), wrong


def test_splitting_is_part_of_the_time_that_a_request_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splitting does not block the event loop either."""

    answered = threading.Event()

    def slow(*_: object) -> Any:
        answered.wait(30)
        raise AssertionError("the client has disconnected")

    monkeypatch.setattr(Reading, "splitter", slow)
    settings = ServerSettings(timeout=0.5)
    with running(create_app(idle_models(), settings), settings) as address:
        late = httpx.post(f"{address}/parse", json={"text": "a b"}, timeout=20)
        assert late.status_code == 503 and "no result within 0.5 seconds" in late.json()["detail"]
        assert httpx.get(f"{address}/health").status_code == 200
        assert not answered.is_set()
        answered.set()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"text": "\U00010400" * 20_000}, "a word has 19,994 characters"),
        ({"text": "\U00010400" * 19_002, "input": "lines"}, "a word has 18,996 characters"),
        ({"text": ")" * 20_000, "input": "tokens"}, "a word has 19,994 characters"),
        ({"text": "\U00010400 " * 10_001}, "20,002 characters; the limit is 20,000"),
    ],
)
def test_what_is_refused_is_neither_split_nor_remembered(
    content: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> Any:
        raise AssertionError("this text should have been refused")

    with TestClient(create_app(idle_models())) as client:
        monkeypatch.setattr(Reading, "splitter", never)

        def refuse(number: int) -> None:
            text = f"{number:05} {content['text'][6:]}"
            refused = client.post("/parse", json={**content, "text": text})
            assert refused.status_code == 422 and message in refused.json()["detail"]

        refuse(0)
        tracemalloc.start()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(1, 51):
            refuse(number)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert grown < 500_000  # fifty texts take four million bytes
