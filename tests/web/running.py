"""A server in a thread, on a free port."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from treebridge.web.serve import make_server
from treebridge.web.settings import ServerSettings

SMALL = ServerSettings(max_text=5000, max_sentences=50, max_words=100, max_word_length=100)


@contextmanager
def running(app: FastAPI, settings: ServerSettings, buffer: int = 0) -> Iterator[str]:
    """Run a server like `serve` does and yield its address; `buffer` limits the send buffer."""
    listening = socket.socket()
    if buffer:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    listening.bind(("127.0.0.1", 0))
    server = make_server(app, settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
