"""`treebridge serve`: load the models and listen on a port."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import MissingExtra, TreebridgeError

try:
    import uvicorn
    from fastapi import FastAPI

    from treebridge.web.app import create_app
    from treebridge.web.connection import Connection
except ImportError:
    raise MissingExtra("FastAPI and uvicorn", "web", "the web page") from None

from treebridge.parse.shipped import shipped_models
from treebridge.web.hosts import allowed_hosts
from treebridge.web.models import Models
from treebridge.web.settings import ServerSettings
from treebridge.web.space import SpaceView

KEEP_ALIVE = 30  # seconds a connection may be idle between requests


def serve_models(
    names: Sequence[str],
    *,
    host: str,
    port: int,
    bitext: Bitext | None,
    source: str | None,
    lexicon: str | None = None,
    encoding: EncoderSettings,
    settings: ServerSettings,
    allow: Sequence[str] = (),
) -> None:
    """Serve models until Ctrl-C; without names, all shipped models.

    On a loopback address the server answers only to local host names and those in `allow`.
    """
    names = names or list(shipped_models())
    if not names:
        raise TreebridgeError("no models are shipped with this version; name a model folder")
    listening = listen(host, port)  # before loading models, which takes a while
    hosts = allowed_hosts(listening.getsockname()[0], host, allow)
    settings = replace(settings, hosts=hosts)
    models = Models.load(names, encoding, lexicon)
    views = _views(models, bitext, source) if bitext else {}
    app = create_app(models, settings, views)
    listening.listen()  # clients may connect as soon as the address is printed
    print(f"{shown_address(host, listening)}  (Ctrl-C to stop)", file=sys.stderr)
    make_server(app, settings).run(sockets=[listening])


def make_server(app: FastAPI, settings: ServerSettings) -> uvicorn.Server:
    """Create a server that enforces the timeouts."""
    protocol: Any = partial(Connection, settings=settings)
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",  # unused, and it would bypass our connection limits
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE,
        server_header=False,
    )
    return uvicorn.Server(config)


def shown_address(host: str, listening: socket.socket) -> str:
    """The address to open on this machine."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    where = f"[{shown}]" if ":" in shown else shown
    return f"http://{where}:{listening.getsockname()[1]}"


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket to an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        raise TreebridgeError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another port"
        ) from None
    return listening


def _views(models: Models, bitext: Bitext, source: str | None) -> dict[str, SpaceView]:
    """Create a view for the first model with a bridge."""
    for served in models.by_name.values():
        if served.parser.bridge and served.mapped:
            encoder = None
            if source:
                layers = served.parser.space.layers or "last4"
                encoder = Encoder.load(source, EncoderSettings(layers=layers))
            return {served.name: SpaceView(served.parser, bitext, encoder)}
    raise TreebridgeError("parallel text is only used with a bridge; none of these models has one")
