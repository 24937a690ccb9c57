"""Checksums of files and JSON objects, to detect damage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

SEAL = "sha256"  # the key of a JSON object that holds the checksum of all other keys
Noted = dict[str, dict[str, Any]]  # file name → size and checksum


def sha256_of(parts: Iterable[bytes | memoryview]) -> str:
    """SHA-256 of concatenated bytes."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256_of(file_blocks(path))


def file_blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in blocks."""
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block


def add_file(digest: Any, path: Path) -> None:
    """Add the content of a file to a hash."""
    for block in file_blocks(path):
        digest.update(block)


def note_files(folder: Path, names: Iterable[str]) -> Noted:
    """Return sizes and checksums of files in a folder, for `find_damage`."""
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_sha256(folder / name)}
        for name in names
    }


def find_damage(folder: Path, noted: Mapping[str, Any], *, contents: bool = True) -> str | None:
    """Describe the first file that does not match its note; None if all match.

    With `contents=False` only sizes are compared.
    """
    for name, note in noted.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        size = path.stat().st_size
        if size != note["bytes"]:
            return f"{name} has {size:,} bytes instead of {note['bytes']:,}"
        if contents and file_sha256(path) != note["sha256"]:
            return f"the checksum of {name} is wrong"
    return None


def are_notes(noted: object) -> bool:
    """Whether a value read from a file has the structure that `note_files` returns."""
    return isinstance(noted, dict) and all(
        isinstance(note, dict)
        and isinstance(note.get("bytes"), int)
        and isinstance(note.get("sha256"), str)
        for note in noted.values()
    )


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with its own checksum as the last key."""
    content = {key: value for key, value in record.items() if key != SEAL}
    return {**content, SEAL: _digest(json.loads(json.dumps(content)))}


def is_intact(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object matches its checksum; True for older ones that have none."""
    if SEAL not in record:
        return True
    content = {key: value for key, value in record.items() if key != SEAL}
    return bool(record[SEAL] == _digest(content))


def _digest(content: Mapping[str, Any]) -> str:
    return sha256_of([json.dumps(content, sort_keys=True).encode()])
