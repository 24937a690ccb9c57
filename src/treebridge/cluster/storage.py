"""Shared storage for finished pieces: a folder, NFS, or anything fsspec can reach.

A piece is named by a hash of everything that determines it, and is written under a temporary name
first. So an existing piece is complete and correct, no matter which run wrote it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.cache import cache_folder
from treebridge.errors import TreebridgeError, first_line

Arrays = dict[str, NDArray[Any]]


class Storage:
    """Named sets of arrays in a shared folder or object store."""

    def __init__(self, place: str | None = None):
        import fsspec

        place = place or str(cache_folder("cluster"))
        # Workers start in another folder.
        self.place = place if "://" in place else str(Path(place).absolute())
        try:
            self._files, self._folder = fsspec.url_to_fs(self.place)
        except (ImportError, ValueError) as error:
            raise TreebridgeError(
                f"cannot use this storage: {first_line(error)}", file=self.place
            ) from None

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        return Storage, (self.place,)  # each worker opens its own connection

    def has(self, name: str) -> bool:
        """Whether a piece is stored."""
        return bool(self._files.exists(self._path(name)))

    def write(self, name: str, arrays: Arrays) -> None:
        """Store a piece atomically."""
        from safetensors.numpy import save

        content = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
        new = f"{self._path(name)}.{uuid.uuid4().hex}.new"
        try:
            self._files.makedirs(self._folder, exist_ok=True)
            try:
                with self._files.open(new, "wb") as stream:
                    stream.write(content)
                self._files.mv(new, self._path(name))
            except BaseException:
                if self._files.exists(new):
                    self._files.rm(new)
                raise
        except OSError as error:
            raise TreebridgeError(
                f"a piece of {len(content) / 1e6:.1f} MB cannot be written: "
                f"{error.strerror or first_line(error)}; free some space or use another storage",
                file=self.place,
            ) from None

    def read(self, name: str) -> Arrays:
        """Load a piece."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            return dict(load(self._files.cat_file(self._path(name))))
        except FileNotFoundError:
            raise TreebridgeError(
                "a piece written by a worker is not visible here; the storage must be a folder "
                "that all machines share, or a URL such as s3://bucket/folder",
                file=self.place,
            ) from None
        except (OSError, SafetensorError) as error:
            raise TreebridgeError(
                f"a piece cannot be read ({first_line(error)}); remove it and run again",
                file=self._path(name),
            ) from None

    def check(self) -> None:
        """Raise an error if the storage is not writable, before any work is done."""
        self.write("check", {})
        self.remove(["check"])

    def remove(self, names: Iterable[str]) -> None:
        """Delete pieces, and partial files left by killed workers."""
        gone = set(names)
        for path in self._files.ls(self._folder, detail=False):
            if str(path).rsplit("/", 1)[-1].split(".", 1)[0] in gone:
                self._files.rm(path)

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}.safetensors"


def name_of(*parts: object) -> str:
    """A hash of everything that determines a piece: arrays by their bytes, the rest by repr."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
