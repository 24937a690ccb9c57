"""The cache of results that can be recomputed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from treebridge.errors import NotWritable, TreebridgeError
from treebridge.writing import blame, flock, remove, write_file

KINDS = ("vectors", "occurrences", "links", "senses", "onnx", "cluster")
# Marks the folders that treebridge created; backup programs skip folders with this file.
MARK = "CACHEDIR.TAG"
_MARK_TEXT = """Signature: 8a477f597d28d172789f06886806bc55
# This folder was made by treebridge; `treebridge cache clear` empties it.
"""
_OURS = re.compile(r"\.?[0-9a-f]{32}([0-9a-f]{32})?([-.]\w+)*")  # named by a key


def cache_folder(kind: str = "") -> Path:
    """Return the cache folder: TREEBRIDGE_CACHE, else `treebridge` in the user's cache folder."""
    base = os.environ.get("TREEBRIDGE_CACHE")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        base = str(Path(home) / "treebridge")
    folder = Path(base) / kind
    with keeping(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # A folder of this name with other content belongs to the user.
        if kind in KINDS and not _is_marked(folder) and all(map(_is_ours, folder.iterdir())):
            write_file(folder / MARK, _MARK_TEXT)
    return folder


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """Add to write errors how to move the cache."""
    try:
        with blame(folder, folder):
            yield
    except NotWritable as error:
        raise TreebridgeError(
            f"{error.message}; set TREEBRIDGE_CACHE to keep the cache elsewhere", file=error.file
        ) from error


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Let other processes that need the same cache entry wait while this one makes it."""
    with (cache_folder(".locks") / name).open("w") as lock:
        flock(lock.fileno(), wait=True)  # released when the file is closed
        yield


@dataclass(frozen=True)
class Entry:
    """A cache entry."""

    kind: str
    name: str
    size: int  # bytes
    used: float  # seconds since the epoch
    path: Path


def cache_entries() -> list[Entry]:
    """List the cache entries, least recently used first."""
    entries = []
    base = cache_folder()
    for kind in sorted(kind for kind in KINDS if _is_marked(base / kind)):
        for path in filter(_is_ours, (base / kind).iterdir()):
            with suppress(FileNotFoundError):  # another process has just removed it
                files = [file for file in path.rglob("*") if file.is_file()] or [path]
                size = sum(file.stat().st_size for file in files if file.is_file())
                used = max(file.stat().st_mtime for file in [path, *files])
                entries.append(Entry(kind, path.name, size, used, path))
    return sorted(entries, key=lambda entry: entry.used)


def clear_cache() -> int:
    """Remove all cache entries; return the number of bytes freed."""
    freed = 0
    for entry in cache_entries():
        remove(entry.path)
        freed += 0 if entry.path.exists() else entry.size
    return freed


def _is_marked(folder: Path) -> bool:
    try:
        return (folder / MARK).read_text(encoding="utf-8") == _MARK_TEXT
    except (OSError, ValueError):
        return False


def _is_ours(path: Path) -> bool:
    return _OURS.fullmatch(path.name) is not None
