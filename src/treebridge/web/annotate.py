"""`treebridge annotate`: edit the trees of a file in the page."""

from __future__ import annotations

import ipaddress
import os
import secrets
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Timer

from treebridge.corpus.edit.document import Document
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.locks import hold
from treebridge.web.annotation import Annotation
from treebridge.web.hosts import allowed_hosts
from treebridge.web.models import Models
from treebridge.web.serve import listen, make_server, shown_address
from treebridge.web.settings import ServerSettings


def annotate_file(
    model: str,
    path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    open_page: bool = True,
    encoding: EncoderSettings | None = None,
    settings: ServerSettings | None = None,
    allow: Sequence[str] = (),
) -> None:
    """Serve the editor of a CoNLL-U file until Ctrl-C; every change is saved to the file at once.

    Clients on other machines need a token; without one given, a server that admits them makes one.
    """
    from treebridge.web.app import create_app  # after `serve`, which names a missing extra

    if str(path) == "-":
        raise TreebridgeError("standard input cannot be edited; name a CoNLL-U file")
    if token is not None and not (token.isascii() and token.isalnum()):
        raise TreebridgeError("a token consists of ASCII letters and digits")
    Document(path)  # report mistakes in the file before anything is written
    with hold(path):
        document = Document.open(path)
        listening = listen(host, port)
        bound = listening.getsockname()[0]
        if token is None and not ipaddress.ip_address(bound).is_loopback:
            token = secrets.token_hex(16)
        hosts = allowed_hosts(bound, host, allow)
        settings = replace(settings or ServerSettings(), hosts=hosts, token=token)
        models = Models.load([model], encoding or EncoderSettings())
        name, served = next(iter(models.by_name.items()))
        app = create_app(models, settings, {}, Annotation(document, served.parser, name))
        address = f"{shown_address(host, listening)}/annotate"
        if token:
            address += f"#token={token}"
        listening.listen()
        print(f"{address}  (Ctrl-C to stop)", file=sys.stderr)
        if open_page and _has_screen():
            opening = Timer(0.5, webbrowser.open, [address])  # when the server answers
            opening.daemon = True
            opening.start()
        make_server(app, settings).run(sockets=[listening])


def _has_screen() -> bool:
    """Whether a browser would open in a window, not in the terminal."""
    if sys.platform.startswith(("win", "darwin")):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
