"""The command line: one thin function per command."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

from treebridge.errors import Notice, TreebridgeError

__all__ = ["main"]
# commands in a file of the same name
_OWN_FILE = ("align", "bridge", "build", "draw", "models", "pack", "parse", "pretrain", "refine",
             "reproduce", "serve", "sources", "train")  # fmt: skip
_FILES = {**{name: name for name in _OWN_FILE}, "evaluate": "parse"}
_ANYWHERE = ("--debug", "--quiet", "-q")  # options of `treebridge` that may follow a command


def main() -> None:
    """Run the command line; an error is one sentence on stderr and exit code 2."""
    given = sys.argv[1:]
    debug = "--debug" in given or bool(os.environ.get("TREEBRIDGE_DEBUG"))
    first = [word for word in given if word in _ANYWHERE]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            words = [word for word in given if word not in _ANYWHERE]
            _app(words)(args=[*first, *words], prog_name="treebridge")
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


def _app(words: list[str]) -> Any:
    """The app with the one command that is called, or with all of them where that is not known.

    Declaring the options of every command takes longer than parsing a sentence.
    """
    completing = any(name.endswith("_COMPLETE") for name in os.environ)
    command = words[0] if words and not completing else ""
    import_module(f"treebridge.cli.{_FILES.get(command, 'commands')}")
    return import_module("treebridge.cli.app").app


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
