"""Where things that can be made again are kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def cache_folder(kind: str = "") -> Path:
    """The cache: TREEBRIDGE_CACHE, else `treebridge` in the user's cache folder."""
    base = os.environ.get("TREEBRIDGE_CACHE")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        base = str(Path(home) / "treebridge")
    folder = Path(base) / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """While one process makes something for the cache, others that want the same wait for it."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    with (cache_folder(".locks") / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go when the file is closed, however that comes
        yield


@dataclass(frozen=True)
class Entry:
    """One thing in the cache."""

    kind: str
    name: str
    size: int  # bytes
    used: float  # seconds since the epoch
    path: Path


def cache_entries() -> list[Entry]:
    """What is in the cache, least recently used first."""
    entries = []
    kinds = (path for path in cache_folder().iterdir() if path.is_dir())
    for kind in sorted(path for path in kinds if not path.name.startswith(".")):
        for path in kind.iterdir():
            files = [file for file in path.rglob("*") if file.is_file()] or [path]
            size = sum(file.stat().st_size for file in files if file.is_file())
            used = max(file.stat().st_mtime for file in [path, *files])
            entries.append(Entry(kind.name, path.name, size, used, path))
    return sorted(entries, key=lambda entry: entry.used)


def clear_cache() -> int:
    """Empty the cache; return how many bytes that freed."""
    entries = cache_entries()
    for entry in entries:
        if entry.path.is_dir():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            entry.path.unlink(missing_ok=True)
    return sum(entry.size for entry in entries)
