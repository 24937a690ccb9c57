"""Cached arrays: files that contain their own checksum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import Tensors
from treebridge.checksums import sha256_of
from treebridge.encode.cache import keeping
from treebridge.errors import first_line, warn_damaged
from treebridge.writing import replacing

Kinds = Mapping[str, Any]  # name → dtype of a one-dimensional array


def keep_arrays(path: Path, arrays: Tensors) -> None:
    """Write a cache file atomically; its name is the key of its content."""
    from safetensors.numpy import save_file

    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with keeping(path), replacing(path) as new:
        save_file(whole, str(new), metadata={"sha256": _digest(path, whole)})


def kept_arrays(path: Path, kinds: Kinds) -> dict[str, NDArray[Any]] | None:
    """Read the arrays that `keep_arrays` wrote; None if they are missing or damaged.

    Files written before checksums were introduced are checked by dtype only.
    """
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return None
    try:
        with safe_open(str(path), "np") as file:
            noted = (file.metadata() or {}).get("sha256")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        warn_damaged(path, first_line(error))
        return None
    if {name: array.dtype for name, array in arrays.items()} != {
        name: np.dtype(kind) for name, kind in kinds.items()
    } or any(array.ndim != 1 for array in arrays.values()):
        warn_damaged(path, "unexpected arrays")
        return None
    if noted is not None and noted != _digest(path, arrays):
        warn_damaged(path, "wrong checksum")
        return None
    return arrays


def _digest(path: Path, arrays: Tensors) -> str:
    """Hash the arrays and the file name, so that an entry in another's place is detected."""

    def parts() -> Iterator[bytes | memoryview]:
        yield path.stem.encode()
        for name, array in sorted(arrays.items()):
            yield f"{name} {array.dtype} {array.shape}".encode()
            yield np.ascontiguousarray(array).data

    return sha256_of(parts())
