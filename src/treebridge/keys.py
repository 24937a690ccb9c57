"""Cache keys: hashes of everything that determines a result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from treebridge.checksums import file_blocks, sha256_of
from treebridge.errors import TreebridgeError


def key_of(*parts: Any) -> str:
    """Short hash of JSON-serializable values."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return key_of_bytes([text.encode("utf-8", "surrogatepass")])


def key_of_bytes(parts: Iterable[bytes]) -> str:
    """Short hash of concatenated bytes."""
    return sha256_of(parts)[:32]


def digest_files(paths: Iterable[str | Path]) -> str:
    """Hash the contents of files and of all files in folders."""
    return sha256_of(_blocks(paths))


def _blocks(paths: Iterable[str | Path]) -> Iterator[bytes]:
    for path in map(Path, paths):
        inside = (p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in sorted(inside):
            try:
                yield from file_blocks(file)
            except FileNotFoundError:
                raise TreebridgeError("file not found", file=file) from None
            except OSError as error:
                raise TreebridgeError(f"cannot be read: {error.strerror}", file=file) from None
