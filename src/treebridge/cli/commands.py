"""The app with all its commands."""

from __future__ import annotations

# Each module adds its commands to `app`; `treebridge --help` lists them in this order.
from treebridge.cli import (  # isort: skip  # noqa: F401
    parse,
    next,
    suggest,
    draw,
    serve,
    annotate,
    models,
    build,
    refine,
    pretrain,
    pack,
    train,
    bridge,
    sources,
    align,
    pivot,
    look,
    reproduce,
)
from treebridge.cli.app import app

__all__ = ["app"]
