"""Downloads against a local server that can misbehave."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from treebridge.corpus.download import ATTEMPTS, Remote, fetch, remote_size
from treebridge.errors import TreebridgeError
from treebridge.experiment import catalog
from treebridge.progress import Progress

BODY = bytes(range(256)) * 4000
SUM = hashlib.sha256(BODY).hexdigest()


class Server:
    """A server of one file, `/file`, with switches for what can go wrong."""

    def __init__(self) -> None:
        self.body = BODY
        self.breaks = 0  # number of times to drop the connection midway
        self.ranges = True
        self.tag = '"one"'
        self.asked: list[str | None] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(server.body)))
                self.end_headers()

            def do_GET(self) -> None:
                server.answer(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/file"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        if request.path != "/file":
            request.send_error(404)
            return
        wanted = request.headers.get("Range")
        self.asked.append(wanted)
        start = 0
        if wanted and self.ranges and request.headers.get("If-Range") == self.tag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(self.body):
                request.send_error(416)
                return
        request.send_response(206 if start else 200)
        rest = self.body[start:]
        request.send_header("Content-Length", str(len(rest)))
        request.send_header("ETag", self.tag)
        request.end_headers()
        if self.breaks:
            self.breaks -= 1
            rest = rest[: len(rest) // 2]
        request.wfile.write(rest)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Shares(Progress):
    """Records the reported shares."""

    def __init__(self, seen: list[float]) -> None:
        self.seen = seen

    def advance(self, stage: str, share: float, **figures: float) -> None:
        self.seen.append(share)


def test_a_file_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    seen: list[float] = []
    remote = Remote(server.url, "CC0", sha256=SUM)
    path = fetch(remote, tmp_path / "a" / "file", Shares(seen))
    assert path.read_bytes() == BODY and seen[-1] == 1 and seen == sorted(seen)
    assert (tmp_path / "a" / "file.sha256").read_text().startswith(SUM)
    fetch(remote, path)
    assert len(server.asked) == 1
    assert sorted(p.name for p in path.parent.iterdir()) == ["file", "file.sha256"]
    assert remote_size(server.url) == len(BODY)


def test_a_broken_transfer_continues(server: Server, tmp_path: Path) -> None:
    server.breaks = ATTEMPTS - 1
    path = fetch(Remote(server.url, "CC0", sha256=SUM), tmp_path / "file")
    assert path.read_bytes() == BODY
    half = len(BODY) // 2
    assert server.asked == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]


def test_the_next_run_continues_a_download(server: Server, tmp_path: Path) -> None:
    server.breaks = ATTEMPTS
    remote = Remote(server.url, "CC0", sha256=SUM)
    with pytest.raises(TreebridgeError, match="interrupted after 896,000 bytes"):
        fetch(remote, tmp_path / "file")
    assert not (tmp_path / "file").exists()
    assert fetch(remote, tmp_path / "file").read_bytes() == BODY
    assert server.asked[-1] == "bytes=896000-"


@pytest.mark.parametrize("change", ["ranges", "content"])
def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path, change: str) -> None:
    server.breaks = ATTEMPTS
    with pytest.raises(TreebridgeError):
        fetch(Remote(server.url, "CC0"), tmp_path / "file")
    if change == "ranges":
        server.ranges = False
    else:  # the file has changed on the server: the two halves must not be mixed
        server.body, server.tag = BODY[::-1], '"two"'
    assert fetch(Remote(server.url, "CC0"), tmp_path / "file").read_bytes() == server.body


def test_a_damaged_file_is_removed(server: Server, tmp_path: Path) -> None:
    with pytest.raises(TreebridgeError, match="damaged download, now removed"):
        fetch(Remote(server.url, "CC0", sha256="0" * 64), tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
    treebank = replace(catalog.entry("fi").remote("dev"), url=server.url)
    with pytest.raises(TreebridgeError, match=r"checksum bd0460795bc26182…, found \w+…; run"):
        fetch(treebank, tmp_path / "fi_tdt-ud-dev.conllu")
    assert list(tmp_path.iterdir()) == []


def test_missing_files(server: Server, tmp_path: Path) -> None:
    with pytest.raises(TreebridgeError, match=r"nothing: file not found .* save it as"):
        fetch(Remote(server.url.replace("file", "nothing"), "CC0"), tmp_path / "file")
    with pytest.raises(TreebridgeError, match="check the network"):
        fetch(Remote("http://127.0.0.1:9/file", "CC0"), tmp_path / "file")
    assert remote_size("http://127.0.0.1:9/file") is None
