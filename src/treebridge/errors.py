"""Errors and warnings for users, each one sentence."""

from __future__ import annotations

import errno
import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path


class TreebridgeError(Exception):
    """A user error: what is wrong, where, and how to fix it."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None):
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    @property
    def problem(self) -> str:
        """The message without the suggested fix."""
        return self.message.partition(";")[0]

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ":".join([*place, " " + self.message]) if place else self.message


class OutputExists(TreebridgeError):
    """The output exists and would be overwritten; callers may offer to replace it."""


class NotWritable(TreebridgeError):
    """The system refuses to write an output: disk full, permission denied, name too long."""


class MissingExtra(TreebridgeError):
    """An optional package is not installed; the message gives the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str):
        missing = "which are not installed" if " and " in package else "which is not installed"
        super().__init__(f"{purpose} needs {package}, {missing}: pip install 'treebridge[{extra}]'")


_TRAIN = (
    "torch", "transformers", "tokenizers", "sentencepiece", "scipy", "kneed", "numba", "onnx",
    "onnxscript", "huggingface_hub",
)  # fmt: skip


def require_train(purpose: str) -> None:
    """Refuse what only those who make models have installed the packages for."""
    for package in _TRAIN[:2]:
        if find_spec(package) is None:
            raise MissingExtra(package, "train", purpose)


def missing_extra(error: ModuleNotFoundError, purpose: str) -> MissingExtra | None:
    """What to install, if a package for making models is missing; None for any other package."""
    package = str(error.name).partition(".")[0]
    return MissingExtra(package, "train", purpose) if package in _TRAIN else None


class Notice(UserWarning):
    """A warning for users; the command line shows it on one line."""


def with_article(noun: str) -> str:
    """`a parser`, `an encoder`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def first_line(error: Exception) -> str:
    """First line of another library's error message, at most 200 characters."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


_REASONS = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "the disk quota is used up; free some space and run again",
    errno.EROFS: "the file system is read-only; choose another path",
    errno.EACCES: "permission denied; choose another path or change the permissions",
    errno.EPERM: "permission denied; choose another path or change the permissions",
    errno.ENOTDIR: "part of this path is a file, not a folder; choose another path",
    errno.EEXIST: "a file is in the way; choose another path",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
    errno.ENOENT: "no such file or folder",
    errno.EMFILE: "too many files are open; raise the limit with: ulimit -n 4096",
}
_IN_RUST = re.compile(r"\(os error (\d+)\)")  # how safetensors and tokenizers report errno
_NO_MEMORY = ("OutOfMemoryError", "can't allocate memory")  # how torch reports a lack of memory


def system_reason(error: BaseException) -> str | None:
    """Explain an operating-system error; None for other errors."""
    if isinstance(error, OSError):
        number = error.errno
    elif found := _IN_RUST.search(str(error)):
        number = int(found[1])
    else:
        return None
    if number is None:  # raised by numpy when a disk is full
        return f"{first_line(error)}; is the disk full?"  # type: ignore[arg-type]
    return _REASONS.get(number) or os.strerror(number).lower()


def in_one_sentence(error: Exception) -> TreebridgeError | None:
    """Convert an exception to a user error; None if it can only be a bug."""
    if isinstance(error, TreebridgeError):
        return error
    if reason := system_reason(error):
        return TreebridgeError(reason, file=getattr(error, "filename", None))
    if isinstance(error, MemoryError) or any(
        sign in f"{type(error).__name__} {error}" for sign in _NO_MEMORY
    ):
        return TreebridgeError("not enough memory; use less data, a smaller model or a CPU")
    if isinstance(error, EOFError):
        return TreebridgeError(f"a file is truncated ({first_line(error)}); recreate it")
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error, "this command")
    if type(error).__name__ == "SafetensorError":
        return TreebridgeError(f"damaged weights ({first_line(error)}); copy or recreate them")
    return None


class DamagedCache(Notice):
    """A cached file is damaged; it is ignored and rebuilt."""


def warn_damaged(path: str | Path, damage: str) -> None:
    """Warn that a damaged file is being rebuilt."""
    warnings.warn(f"{path}: damaged ({damage}); rebuilding it", DamagedCache, stacklevel=3)
