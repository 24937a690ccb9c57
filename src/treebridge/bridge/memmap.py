"""Read memory maps without keeping their pages in memory."""

from __future__ import annotations

import mmap
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

GROUP = 256


def release(array: NDArray[np.generic]) -> None:
    """Drop the resident pages of a memory map; do nothing for an ordinary array.

    Otherwise every page touched counts as memory of the process.
    """
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def pick(array: NDArray[Kind], rows: NDArray[np.int64]) -> NDArray[Kind]:
    """Copy rows in small groups: reading one page makes the system load many around it."""
    chosen = np.empty((len(rows), *array.shape[1:]), array.dtype)
    for start in range(0, len(rows), GROUP):
        here = slice(start, start + GROUP)
        chosen[here] = array[rows[here]]
        release(array)
    return chosen
