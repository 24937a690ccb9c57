"""Arrays in the cache: a file each, which holds its own checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import Tensors
from treebridge.encode.cache import keeping
from treebridge.errors import first_line, warn_damaged
from treebridge.writing import replacing

Kinds = Mapping[str, Any]  # name → type of the numbers of an array with one dimension


def keep_arrays(path: Path, arrays: Tensors) -> None:
    """Write a file of the cache, whole or not at all; its name stands for all that decides it."""
    from safetensors.numpy import save_file

    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with keeping(path), replacing(path) as new:
        save_file(whole, str(new), metadata={"sha256": _digest(path, whole)})


def kept_arrays(path: Path, kinds: Kinds) -> dict[str, NDArray[Any]] | None:
    """What `keep_arrays` wrote there; None where it wrote nothing, or what is there is damaged.

    Files from before there were checksums are judged by their kinds alone.
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
        warn_damaged(path, "it holds other arrays")
        return None
    if noted is not None and noted != _digest(path, arrays):
        warn_damaged(path, "the checksum is wrong")
        return None
    return arrays


def _digest(path: Path, arrays: Tensors) -> str:
    """Of the arrays and the name of the file: another entry in this one's place is noticed."""
    digest = hashlib.sha256(path.stem.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
