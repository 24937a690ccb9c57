"""The command line: one thin function per command."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

# Each module adds its commands to `app`; `treebridge --help` lists them in this order.
from treebridge.cli import (  # isort: skip  # noqa: F401
    parse,
    draw,
    serve,
    models,
    build,
    refine,
    pretrain,
    pack,
    train,
    bridge,
    align,
    look,
    reproduce,
)
from treebridge.cli.app import app
from treebridge.errors import Notice, TreebridgeError

__all__ = ["app", "main"]
_ANYWHERE = ("--debug", "--quiet", "-q")  # options of `treebridge` that may follow a command


def main() -> None:
    """Run the command line; an error is one sentence on stderr and exit code 2."""
    given = sys.argv[1:]
    debug = "--debug" in given or bool(os.environ.get("TREEBRIDGE_DEBUG"))
    first = [word for word in given if word in _ANYWHERE]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app(args=[*first, *(w for w in given if w not in _ANYWHERE)], prog_name="treebridge")
    except TreebridgeError as error:
        if debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        _flush_stdout()
        sys.exit(2)
    except BrokenPipeError:  # the reader has closed the pipe, as `| head` does
        _flush_stdout()
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted; run the same command to resume", file=sys.stderr)
        sys.exit(130)


def _flush_stdout() -> None:
    """Flush now: Python would print a traceback if flushing failed at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_show_by_default = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a notice as one line, without the place in our code that issued it."""
    if issubclass(category, Notice):
        print(f"note: {message}", file=sys.stderr)
    else:
        _show_by_default(message, category, *where, **more)
