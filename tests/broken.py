"""What happens to files: they are deleted, cut, emptied, changed, swapped; and edited by people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

Damage = Callable[[Path, Path], None]  # of this file; of this other model's file of the same name


def _flip(path: Path, _: Path) -> None:
    """One bit in the middle; in text, one that leaves a letter a letter."""
    data = bytearray(path.read_bytes())
    at = len(data) // 2
    if path.suffix in (".json", ".jsonl", ".txt"):
        while not chr(data[at]).isascii() or not chr(data[at]).isalnum():
            at += 1
        data[at] ^= 1
    else:
        data[at] ^= 64
    path.write_bytes(data)


ACCIDENTS: dict[str, Damage] = {
    "deleted": lambda path, _: path.unlink(),
    "truncated": lambda path, _: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path, _: path.write_bytes(b""),
    "zeroed": lambda path, _: path.write_bytes(bytes(path.stat().st_size)),
    "flipped": _flip,
    "swapped": lambda path, other: path.write_bytes(other.read_bytes()),
}


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a JSON object in place, or give another value for it."""
    content = json.loads(path.read_text(encoding="utf-8"))
    changed = change(content)
    path.write_text(json.dumps(content if changed is None else changed), encoding="utf-8")


def unseal(content: dict[str, Any]) -> None:
    """Take the checksums out of a JSON object."""
    for key in ("files", "sha256"):
        del content[key]


def make_older(folder: Path) -> None:
    """Take all checksums out of a folder, as if it had been made before there were any."""
    for path in (*folder.rglob("config.json"), *folder.rglob("pretraining.json")):
        if "sha256" in json.loads(path.read_text(encoding="utf-8")):  # an encoder's has none
            edit(path, unseal)


def without(*keys: str) -> Callable[[Path], None]:
    """Take a key out of a JSON object."""

    def change(content: dict[str, Any]) -> None:
        for key in keys[:-1]:
            content = content[key]
        del content[keys[-1]]

    return lambda path: edit(path, change)


def put(value: Any, *keys: str) -> Callable[[Path], None]:
    """Give a key of a JSON object another value."""

    def change(content: dict[str, Any]) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return lambda path: edit(path, change)


def instead(content: Any) -> Callable[[Path], None]:
    """Write something else."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda path: path.write_bytes(data) and None


def tensors(change: Callable[[dict[str, np.ndarray]], Any]) -> Callable[[Path], None]:
    """Change the arrays of a file."""

    def damage(path: Path) -> None:
        arrays = load_file(path)
        change(arrays)
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)

    return damage
