"""The command line: one thin function per command, no logic."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

# Each adds its commands to `app`, in the order in which `treebridge --help` shows them.
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
_ANYWHERE = ("--debug", "--quiet", "-q")  # options of `treebridge` itself that work anywhere


def main() -> None:
    """Entry point: errors are one sentence on stderr and exit code 2."""
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
        _give_up_stdout()
        sys.exit(2)
    except BrokenPipeError:  # `| head` has seen enough
        _give_up_stdout()
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted; run the same command to resume", file=sys.stderr)
        sys.exit(130)


def _give_up_stdout() -> None:
    """Python writes what is left when it ends, and would complain if that fails."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_show_as_python_does = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """A notice is one line; where in our code it was given helps nobody."""
    if issubclass(category, Notice):
        print(f"note: {message}", file=sys.stderr)
    else:
        _show_as_python_does(message, category, *where, **more)
