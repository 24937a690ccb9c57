"""Hashes of all that decides a result: the same key, the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treebridge.errors import TreebridgeError


def key_of(*parts: Any) -> str:
    """A short hash of anything that JSON can hold."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def key_of_bytes(parts: Iterable[bytes]) -> str:
    """A short hash of bytes that come in parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32]


def digest_files(paths: Iterable[str | Path]) -> str:
    """A hash of the content of files, and of all files in folders."""
    digest = hashlib.sha256()
    for path in map(Path, paths):
        inside = (p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in sorted(inside):
            try:
                with file.open("rb") as stream:
                    while block := stream.read(1 << 20):
                        digest.update(block)
            except FileNotFoundError:
                raise TreebridgeError("there is no such file", file=file) from None
            except OSError as error:
                raise TreebridgeError(f"cannot be read: {error.strerror}", file=file) from None
    return digest.hexdigest()
