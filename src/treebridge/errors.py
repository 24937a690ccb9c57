"""What goes wrong, said in one sentence."""

from __future__ import annotations

from pathlib import Path


class TreebridgeError(Exception):
    """A mistake in the input or the call: what is wrong, where, and how to put it right."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None):
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ":".join([*place, " " + self.message]) if place else self.message


class MissingExtra(TreebridgeError):
    """An optional package is not installed; the message is the line that installs it."""

    def __init__(self, package: str, extra: str, purpose: str):
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'treebridge[{extra}]'"
        )


def first_line(error: Exception) -> str:
    """What another library's error says, cut to fit into a sentence of ours."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
