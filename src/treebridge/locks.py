"""Locks on outputs, released when the process that holds them ends."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treebridge.errors import TreebridgeError
from treebridge.writing import blame, flock, is_stream, new_part, parents, real_place


@contextmanager
def hold(path: str | Path | None, *, wait: bool = False) -> Iterator[None]:
    """Check that an output can be written, and lock it during the block.

    If another run holds the lock, wait for it or raise an error that names it.
    """
    # Streams need no lock; under torchrun, rank 0 holds it for all processes.
    if path is None or is_stream(path) or os.environ.get("RANK", "0") != "0":
        yield
        return
    place = real_place(path)
    with parents(place, path):
        with blame(path), new_part(place):
            pass
        with _locked(place.with_name(f".{place.name}.lock"), Path(path), wait=wait):
            yield


@contextmanager
def _locked(lock: Path, output: Path, *, wait: bool) -> Iterator[None]:
    with blame(output):
        descriptor = _open_locked(lock, output, wait=wait)
    try:
        with blame(output, lock):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        lock.unlink(missing_ok=True)  # before it is released, so that nobody locks a deleted file
        os.close(descriptor)


def _open_locked(lock: Path, output: Path, *, wait: bool) -> int:
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        if not flock(descriptor, wait=wait):
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip() or "another run"
            os.close(descriptor)
            raise TreebridgeError(
                f"{holder} is writing this output; wait until it ends or choose another path",
                file=output,
            )
        if _is_still(lock, descriptor):
            return descriptor
        os.close(descriptor)  # deleted by its holder in the meantime


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
