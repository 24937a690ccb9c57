"""Memory maps that are walked through without staying in memory."""

from __future__ import annotations

import mmap
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

FEW = 256


def release(array: NDArray[np.generic]) -> None:
    """Let go of the pages of a memory map that were touched; an array in memory stays as it is.

    They count as memory of the process otherwise, and a walk through a map touches all of them.
    """
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def pick(array: NDArray[Kind], rows: NDArray[np.int64]) -> NDArray[Kind]:
    """A copy of some rows, few at a time: with each page that is touched come many around it."""
    chosen = np.empty((len(rows), *array.shape[1:]), array.dtype)
    for start in range(0, len(rows), FEW):
        here = slice(start, start + FEW)
        chosen[here] = array[rows[here]]
        release(array)
    return chosen
