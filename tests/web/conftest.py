"""A server in a thread, on a free port, with models of artificial languages."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra web")
uvicorn = pytest.importorskip("uvicorn", reason="needs the extra web")

from treebridge.encode.encoder import EncoderSettings  # noqa: E402
from treebridge.web.app import create_app  # noqa: E402
from treebridge.web.served import Models  # noqa: E402
from treebridge.web.settings import ServerSettings  # noqa: E402
from treebridge.web.space import SpaceView  # noqa: E402

SMALL = ServerSettings(max_text=5000, max_sentence=100, max_word=100)


@pytest.fixture(scope="session")
def models(home: Path) -> Models:
    return Models.load([f"near={home / 'bridged'}", str(home / "model")], EncoderSettings())


@pytest.fixture(scope="session")
def views(home: Path, models: Models) -> dict[str, SpaceView]:
    """Pairs of which both sides are words of the same language: a translation into itself."""
    from made import TRAIN

    from treebridge import Bitext
    from treebridge.encode.static import StaticEncoder

    lines = ("\t".join([" ".join(s.forms), " ".join(s.forms) + " !"]) for s in TRAIN)
    (home / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = Bitext.read(home / "pairs.tsv", source_language="qaa")
    source = StaticEncoder(home / "vectors.vec")
    return {"near": SpaceView(models.by_name["near"].parser, bitext, source)}


@pytest.fixture(scope="session")
def address(models: Models, views: dict[str, SpaceView]) -> Iterator[str]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(models, SMALL, views), log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
