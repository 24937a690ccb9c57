"""Files written atomically, with the permissions that the umask gives."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from treebridge.errors import NotWritable, TreebridgeError, system_reason

SETTLED = 60.0  # seconds; a library that replaces our file drops our lock on it for a moment
_ZEROS = bytes(1 << 20)


@contextmanager
def replacing(path: str | Path, mode: int | None = None) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` when the block succeeds.

    Links are followed; devices and pipes are written directly. `mode` are permissions other than
    those that the umask gives.
    """
    path = Path(path)
    if is_stream(path):
        with blame(path, path):
            yield path
        return
    place = real_place(path)
    if place.is_dir():
        raise TreebridgeError("this is a folder; name a file inside it", file=path)
    with temporary(path, place) as part:
        if mode is None:
            mode = stat.S_IMODE(part.stat().st_mode)
        part.chmod(mode)
        yield part
        part.chmod(mode)  # some libraries make files readable by the owner only
        part.replace(place)


@contextmanager
def filling(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder whose content moves to `path` when the block succeeds."""
    place = real_place(path)
    with temporary(path, place, folder=True) as part:
        yield part
        if place.exists():
            for made in sorted(part.iterdir()):
                made.replace(place / made.name)
        else:
            part.replace(place)


@contextmanager
def temporary(path: str | Path, place: Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield a temporary file or folder beside `place`; write errors name `path`."""
    with ExitStack() as stack:
        with blame(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(place)
            part = stack.enter_context(new_part(place, folder=folder))
        with blame(path, part, place):
            yield part


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as new:
        new.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def reserve(path: Path, size: int) -> None:
    """Allocate disk space for a file of this size, keeping its content.

    Without it, writing to a memory map would kill the process when the disk is full.
    """
    with blame(path, path), path.open("r+b" if path.exists() else "w+b") as stream:
        missing = size - stream.seek(0, os.SEEK_END)
        if missing < 0:
            stream.truncate(size)
        elif size and not _allocate(stream.fileno(), size):
            for start in range(0, missing, len(_ZEROS)):
                stream.write(_ZEROS[: missing - start])


def _allocate(descriptor: int, size: int) -> bool:
    """Let the file system allocate the space; False if it cannot."""
    if not hasattr(os, "posix_fallocate"):
        return False
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            return False
        raise
    return True


def is_stream(path: str | Path) -> bool:
    """Whether a path is a terminal, a pipe or /dev/null rather than a file."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise TreebridgeError("this is a device, not a file; choose another path", file=path)
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def real_place(path: str | Path) -> Path:
    """Resolve the links of an output path."""
    place = Path(os.path.realpath(path))
    if place.is_symlink() or not place.name:
        raise TreebridgeError("nothing can be written here; choose another path", file=path)
    return place


@contextmanager
def new_part(place: Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield a hidden, locked file or folder beside `place`; remove it unless it was moved."""
    part = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    if folder:
        part.mkdir()
        descriptor = os.open(part, os.O_RDONLY)
    else:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        flock(descriptor)
        yield part
    finally:
        remove(part)
        os.close(descriptor)


def remove_abandoned(place: Path) -> None:
    """Remove unfinished outputs of runs that were killed."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{8}}\.part")
    try:
        neighbours = list(place.parent.iterdir())
    except OSError:
        return  # the folder is writable but cannot be listed
    for part in neighbours:
        if pattern.fullmatch(part.name) and is_abandoned(part):
            remove(part)


def is_abandoned(part: Path) -> bool:
    """Whether the process that was writing an unfinished output is known to have ended."""
    try:
        if part.is_file() and time.time() - part.stat().st_mtime < SETTLED:
            return False
        descriptor = os.open(part, os.O_RDONLY)
    except OSError:
        return False
    try:
        return flock(descriptor, unknown=False)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or folder if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def parents(place: Path, path: str | Path) -> Iterator[None]:
    """Create missing parent folders; afterwards remove those that stayed empty."""
    missing = [folder for folder in place.parents if not folder.exists()]
    with blame(path):
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for folder in missing:
            try:
                folder.rmdir()
            except OSError:
                break  # not empty


@contextmanager
def blame(path: str | Path, *places: Path) -> Iterator[None]:
    """Turn system errors about these places (any, if none is given) into `NotWritable`."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our output has closed it
    except Exception as error:
        reason, named = system_reason(error), getattr(error, "filename", None)
        ours = named is None or not places or any(_is_within(str(named), place) for place in places)
        if isinstance(error, TreebridgeError) or reason is None or not ours:
            raise
        raise NotWritable(f"cannot be written: {reason}", file=path) from error


def _is_within(name: str, place: Path) -> bool:
    return name == str(place) or name.startswith(f"{place}{os.sep}")


def flock(descriptor: int, *, wait: bool = False, unknown: bool = True) -> bool:
    """Lock an open file or folder; return `unknown` where locks are not supported."""
    try:
        import fcntl
    except ImportError:
        return unknown
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else unknown
    return True
