"""What goes wrong, said in one sentence."""

from __future__ import annotations

import errno
import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path


class TreebridgeError(Exception):
    """A mistake in the input or the call: what is wrong, where, and how to put it right."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None):
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    @property
    def problem(self) -> str:
        """The message without what to do about it."""
        return self.message.partition(";")[0]

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ":".join([*place, " " + self.message]) if place else self.message


class OutputExists(TreebridgeError):
    """The output exists and would be lost; the caller can ask for it to be replaced."""


class NotWritable(TreebridgeError):
    """The system refuses to write an output: a full disk, no permission, a name too long."""


class MissingExtra(TreebridgeError):
    """An optional package is not installed; the message is the line that installs it."""

    def __init__(self, package: str, extra: str, purpose: str):
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'treebridge[{extra}]'"
        )


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
    """Something a user should know; the command line shows it as one line."""


def first_line(error: Exception) -> str:
    """What another library's error says, cut to fit into a sentence of ours."""
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
_NO_MEMORY = ("OutOfMemoryError", "can't allocate memory")  # how torch reports it


def system_reason(error: BaseException) -> str | None:
    """Why the operating system refused something; None for errors of any other kind."""
    if isinstance(error, OSError):
        number = error.errno
    elif found := _IN_RUST.search(str(error)):
        number = int(found[1])
    else:
        return None
    if number is None:  # numpy's, when a disk is full
        return f"{first_line(error)}; is the disk full?"  # type: ignore[arg-type]
    return _REASONS.get(number) or os.strerror(number).lower()


def in_one_sentence(error: Exception) -> TreebridgeError | None:
    """The error as a sentence for the user; None for what can only be a mistake of ours."""
    if isinstance(error, TreebridgeError):
        return error
    if reason := system_reason(error):
        return TreebridgeError(reason, file=getattr(error, "filename", None))
    if isinstance(error, MemoryError) or any(
        sign in f"{type(error).__name__} {error}" for sign in _NO_MEMORY
    ):
        return TreebridgeError("not enough memory; use less data, a smaller model or a CPU")
    if isinstance(error, EOFError):
        return TreebridgeError(f"a file ends too early ({first_line(error)}); make it again")
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error, "this command")
    if type(error).__name__ == "SafetensorError":
        return TreebridgeError(f"damaged weights ({first_line(error)}); make or copy them again")
    return None


class DamagedCache(Notice):
    """Something that is kept to save time was damaged; it is ignored and made again."""


def warn_damaged(path: str | Path, damage: str) -> None:
    """Say in one line what is made again, and why."""
    warnings.warn(f"{path}: damaged ({damage}); making it again", DamagedCache, stacklevel=3)
