"""Checksums: what is read is what was written, or somebody is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SEAL = "sha256"  # the key of a JSON object under which the checksum of all other keys is kept
Noted = dict[str, dict[str, Any]]  # name of a file → its size and checksum


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, read a block at a time."""
    digest = hashlib.sha256()
    add_file(digest, path)
    return digest.hexdigest()


def add_file(digest: Any, path: Path) -> None:
    """Add the content of a file to a hash."""
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)


def note_files(folder: Path, names: Iterable[str]) -> Noted:
    """Sizes and checksums of some files of a folder, for `find_damage`."""
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_sha256(folder / name)}
        for name in names
    }


def find_damage(folder: Path, noted: Mapping[str, Any], *, contents: bool = True) -> str | None:
    """What is wrong with the first file that is not as it was noted; None if all are.

    Without `contents` only sizes are compared, which reads nothing.
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
    """Whether something read from a file has the form that `note_files` gives."""
    return isinstance(noted, dict) and all(
        isinstance(note, dict)
        and isinstance(note.get("bytes"), int)
        and isinstance(note.get("sha256"), str)
        for note in noted.values()
    )


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with a checksum of itself, as its last key."""
    content = {key: value for key, value in record.items() if key != SEAL}
    return {**content, SEAL: _digest(json.loads(json.dumps(content)))}


def is_intact(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is as it was sealed; those from before there were seals are."""
    if SEAL not in record:
        return True
    content = {key: value for key, value in record.items() if key != SEAL}
    return bool(record[SEAL] == _digest(content))


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
