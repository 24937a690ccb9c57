"""Fetching encoders from a hub: a local server speaks as much of its API as is needed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from checkpoints import make, make_opus_mt

from treebridge import Encoder, TreebridgeError
from treebridge.bridge.space import Space, cite
from treebridge.encode.settings import EncoderSettings

COMMIT, OLDER = "a" * 40, "b" * 40


class Hub:
    """A model repository `someone/tiny`, with switches for what can go wrong."""

    def __init__(self, files: dict[str, bytes]):
        self.files = files
        # Branches and tags; each commit is also known by its number.
        self.revisions = {"main": COMMIT, COMMIT: COMMIT}
        self.of_commit = {COMMIT: files}
        self.asked: list[tuple[str, str, str | None]] = []
        self.break_once = False  # drop the connection in the middle of the weights
        self.damage = False  # send other bytes than the checksum says
        self.gone = False
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...
            def do_HEAD(self) -> None:
                hub.answer(self, body=False)

            def do_GET(self) -> None:
                hub.answer(self, body=True)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler, *, body: bool) -> None:
        path = request.path.partition("?")[0]
        self.asked.append((request.command, path, request.headers.get("Range")))
        if path.startswith("/api/models/someone/tiny") and not self.gone:
            revision = path.partition("/revision/")[2] or "main"
            if revision not in self.revisions:
                headers = {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"}
                return self.send(request, 404, headers, b"", body)
            commit = self.revisions[revision]
            siblings = [
                {"rfilename": name, "size": len(data),
                 **({"lfs": {"sha256": sha(data), "size": len(data), "pointerSize": 1}} if is_large(name) else {})}
                for name, data in self.of_commit[commit].items()
            ]  # fmt: skip
            data = json.dumps({"id": "someone/tiny", "sha": commit, "siblings": siblings}).encode()
            return self.send(request, 200, {"Content-Type": "application/json"}, data, body)
        name = path.rpartition("/")[2]
        commit = self.revisions.get(path.removeprefix("/someone/tiny/resolve/").partition("/")[0])
        if commit is None or name not in self.of_commit[commit] or self.gone:
            headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            return self.send(request, 404, headers, b"", body)
        data = self.of_commit[commit][name]
        headers = {"ETag": f'"{sha(data)}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if self.damage and is_large(name):
            data = bytes(len(data))
        wanted = request.headers.get("Range")
        if wanted:
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            return self.send(request, 206, headers, data[start:], body)
        return self.send(
            request, 200, headers, data, body, breaks=self.break_once and is_large(name)
        )

    def send(
        self, request, status: int, headers, data: bytes, body: bool, breaks: bool = False
    ) -> None:
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            request.send_header(name, value)
        request.end_headers()
        if body and breaks:
            self.break_once = False
            request.wfile.write(data[: 3 * len(data) // 4])
            request.wfile.flush()
            request.connection.shutdown(2)
        elif body:
            request.wfile.write(data)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_large(name: str) -> bool:
    return name.endswith((".safetensors", ".h5"))


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub({"config.json": b"{}", "tokenizer.json": b"[]", "vocab.txt": b"a", "tf_model.h5": b"x",
               "model.safetensors": random.Random(1).randbytes(25_000_000)})  # fmt: skip
    yield hub
    hub.server.shutdown()


def load(hub_url: str, cache: Path, name: str = "someone/tiny", offline: bool = False, code=""):
    """Fetch in a fresh process, as the hub's client reads its address once."""
    code = f"""
import sys
from treebridge import TreebridgeError
from treebridge.encode.hub import find_encoder
try:
    {code or f"print(find_encoder({name!r}, offline={offline}))"}
except TreebridgeError as error:
    sys.exit(f"error: {{error}}")
"""
    environment = {**os.environ, "HF_ENDPOINT": hub_url, "HF_HOME": str(cache), "HF_HUB_DISABLE_XET": "1",
                   "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_ETAG_TIMEOUT": "3", "NO_PROXY": "127.0.0.1"}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def complete(hub: Hub, done, commit: str = COMMIT) -> bool:
    folder = Path(done.stdout.strip())
    files = {name: data for name, data in hub.of_commit[commit].items() if name != "tf_model.h5"}
    return all((folder / name).read_bytes() == data for name, data in files.items())


def test_download_then_cache_then_offline(hub: Hub, tmp_path: Path) -> None:
    first = load(hub.url, tmp_path / "cache")
    assert complete(hub, first), first.stderr
    fetched = {path.rpartition("/")[2] for command, path, _ in hub.asked if command == "GET"}
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= fetched
    assert "tf_model.h5" not in fetched
    hub.asked.clear()
    again = load(hub.url, tmp_path / "cache")
    assert again.stdout == first.stdout and hub.asked == []
    assert load("http://127.0.0.1:9", tmp_path / "cache", offline=True).stdout == first.stdout


def test_an_opus_mt_checkpoint_loads_by_name(tmp_path: Path) -> None:
    (tmp_path / "opus-mt").mkdir()
    folder = make_opus_mt(tmp_path / "opus-mt")
    hub = Hub({path.name: path.read_bytes() for path in folder.iterdir()})
    hub.files["rust_model.ot"] = b"another format"
    code = (
        "from treebridge import Encoder; e = Encoder.load('someone/tiny'); "
        "print(e.fingerprint, e.commit, e(['a', 'b']).shape)"
    )
    done = load(hub.url, tmp_path / "cache", code=code)
    hub.server.shutdown()
    expected = [Encoder.load(folder).fingerprint, COMMIT, "(2,", "32)"]
    assert done.stdout.split() == expected, done.stderr
    assert not any(path.endswith(".ot") for _, path, _ in hub.asked)


def test_a_broken_transfer_is_resumed(hub: Hub, tmp_path: Path) -> None:
    hub.break_once = True
    done = load(hub.url, tmp_path / "cache")
    assert complete(hub, done), done.stderr
    assert any(
        wanted for _, path, wanted in hub.asked if path.endswith("model.safetensors") and wanted
    )


def test_a_wrong_checksum_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.damage = True
    done = load(hub.url, tmp_path / "cache")
    assert done.returncode == 1
    assert "model.safetensors of 'someone/tiny' was damaged (wrong checksum)" in done.stderr
    hub.damage = False
    assert complete(hub, load(hub.url, tmp_path / "cache"))


def test_names_that_are_not_there(hub: Hub, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert (
        "found no encoder 'someone/else' on the hub" in load(hub.url, cache, "someone/else").stderr
    )
    assert "neither a folder nor a hub name" in load(hub.url, cache, "no such name!").stderr
    assert "folder not found" in load(hub.url, cache, "./nowhere").stderr
    offline = load(hub.url, cache, offline=True).stderr
    assert "'someone/tiny' is not in the cache and offline mode prevents downloading it" in offline


def test_no_network(tmp_path: Path) -> None:
    done = load("http://127.0.0.1:9", tmp_path / "cache")
    assert "the hub could not be reached for 'someone/tiny'" in done.stderr
    assert done.stderr.strip().count("error:") == 1


def test_a_pinned_revision_stays_the_same(hub: Hub, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    hub.of_commit[OLDER] = {**hub.files, "config.json": b'{"old": 1}', "model.safetensors": b"old"}
    hub.revisions |= {"v1": OLDER, OLDER: OLDER}
    newest = load(hub.url, cache)
    tag, commit = (load(hub.url, cache, f"someone/tiny@{name}") for name in ("v1", OLDER))
    assert complete(hub, newest) and complete(hub, tag, OLDER), tag.stderr
    assert tag.stdout == commit.stdout != newest.stdout and OLDER in tag.stdout
    hub.asked.clear()
    for name, known in (("", newest), ("@v1", tag), (f"@{OLDER}", tag), (f"@{COMMIT}", newest)):
        again = load(hub.url, cache, f"someone/tiny{name}", offline=True)
        assert again.stdout == known.stdout and not hub.asked, again.stderr


def test_revisions_that_are_not_there(hub: Hub, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    wrong = load(hub.url, cache, "someone/tiny@v9").stderr
    assert "'someone/tiny' has no revision 'v9' on the hub; expected a branch, tag or" in wrong
    assert "expected a branch, tag or commit" in load(hub.url, cache, "someone/tiny@").stderr
    offline = load(hub.url, cache, "someone/tiny@v1", offline=True).stderr
    assert "'someone/tiny@v1' is not in the cache" in offline


def test_models_keep_the_commit(hub: Hub, tmp_path: Path) -> None:
    folder = make("bert", tmp_path / "bert")
    hub.of_commit[OLDER] = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.revisions |= {"v1": OLDER, OLDER: OLDER}
    code = (
        "from treebridge import Encoder; from treebridge.bridge.space import Space; import json; "
        "print(json.dumps(Space.of(Encoder.load('someone/tiny@v1')).config()))"
    )
    done = load(hub.url, tmp_path / "cache", code=code)
    assert not done.returncode, done.stderr
    config = json.loads(done.stdout)
    assert (config["encoder"], config["commit"]) == ("someone/tiny@v1", OLDER), done.stderr
    space = Space.from_config(config, np.zeros((1, 32)))
    assert space.config() == config and cite(config) == f"`someone/tiny@v1` (commit `{OLDER}`)"
    local = Encoder.load(folder)
    space.check(local)
    assert "commit" not in Space.of(local).config()
    other = Encoder.load(folder, EncoderSettings(layers="last1"))
    with pytest.raises(TreebridgeError, match=f"use someone/tiny@{OLDER}"):
        space.check(other)
