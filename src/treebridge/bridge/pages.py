"""Memory maps that are walked through without staying in memory."""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray


def release(array: NDArray[np.generic]) -> None:
    """Let go of the pages of a memory map that were touched; an array in memory stays as it is.

    They count as memory of the process otherwise, and a walk through a map touches all of them.
    """
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
