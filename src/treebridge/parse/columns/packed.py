"""Large tables in 8 bits: whole numbers and a scale for each column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.errors import TreebridgeError
from treebridge.records import FIX

Tensors = Mapping[str, NDArray[Any]]
LARGE = 100_000  # values; smaller tables stay as they are
SCALE = ".scale"


def packed(tensors: Tensors) -> dict[str, NDArray[Any]]:
    """Large tables rounded to 8 bits, with their scales; the others in 16."""
    found: dict[str, NDArray[Any]] = {}
    for name, table in tensors.items():
        if table.size < LARGE or table.ndim != 2:
            found[name] = table.astype(np.float16)
            continue
        scale = np.maximum(np.abs(table).max(0), 1e-9).astype(np.float32) / 127
        found[name] = np.rint(table / scale).astype(np.int8)
        found[name + SCALE] = scale
    return found


def unpacked(tensors: Tensors, file: Path) -> dict[str, NDArray[Any]]:
    """The tables of a file as floats."""
    found: dict[str, NDArray[Any]] = {}
    for name, table in tensors.items():
        if name.endswith(SCALE):
            continue
        scale = tensors.get(name + SCALE)
        if scale is not None:
            if table.ndim != 2 or scale.shape != table.shape[1:]:
                raise TreebridgeError(f"damaged: the scales of {name} do not fit; {FIX}", file=file)
            table = table.astype(np.float32) * scale
        found[name] = table
    return found
