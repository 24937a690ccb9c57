"""Symmetrization: two directions are combined into one set of links.

`intersection` ⊆ `grow-diag` ⊆ `grow-diag-final` or `-final-and` ⊆ `union`; `forward` and `reverse`
are the directions as they are. Och & Ney (2003); Koehn, Och, Marcu (2003).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from treebridge.alignment.aligner import NOTHING, Choices
from treebridge.alignment.indexed import IndexedPairs
from treebridge.alignment.links import Links
from treebridge.alignment.table import equal_ranges
from treebridge.alignment.threads import Threads
from treebridge.errors import TreebridgeError

METHODS = (
    "forward",
    "reverse",
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
)
_NUMBER = {name: number for number, name in enumerate(METHODS)}
_FORWARD, _REVERSE, _INTERSECTION, _UNION, _GROW, _FINAL, _FINAL_AND = range(len(METHODS))
_RANGES = 64


def symmetrize(corpus: IndexedPairs, choices: Choices, method: str, threads: Threads) -> Links:
    """Combine the choices of both directions into links."""
    if method not in _NUMBER:
        known = ", ".join(METHODS)
        raise TreebridgeError(f"unknown symmetrization {method!r}; choose from {known}")
    if not len(corpus):
        return Links.of([])
    number = _NUMBER[method]
    parts = threads.map(
        lambda part: _symmetrize(*part, corpus.source.at, corpus.target.at, *choices, number),
        equal_ranges(corpus.cells, _RANGES) if corpus.cells[-1] else [(0, len(corpus))],
    )
    source, target, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    at = np.zeros(len(corpus) + 1, np.int64)
    np.cumsum(counts, out=at[1:])
    return Links(source, target, at)


@nb.njit(cache=True, nogil=True)
def _symmetrize(first, last, source_at, target_at, forward, reverse, method):
    room = source_at[last] - source_at[first] + target_at[last] - target_at[first]
    source, target = np.empty(room, np.uint16), np.empty(room, np.uint16)
    counts = np.zeros(last - first, np.int64)
    total = 0
    for n in range(first, last):
        s, t = source_at[n], target_at[n]
        rows, columns = source_at[n + 1] - s, target_at[n + 1] - t
        # 1: the target word picks it; 2: the source word does; 4: it is a link
        grid = np.zeros((rows, columns), np.uint8)
        for j in range(columns):
            if forward[t + j] != NOTHING:
                grid[forward[t + j], j] |= 1
        for i in range(rows):
            if reverse[s + i] != NOTHING:
                grid[i, reverse[s + i]] |= 2
        _choose(grid, method)
        before = total
        for i in range(rows):
            for j in range(columns):
                if grid[i, j] & 4:
                    source[total], target[total] = i, j
                    total += 1
        counts[n - first] = total - before
    return source[:total].copy(), target[:total].copy(), counts


@nb.njit(cache=True, nogil=True)
def _choose(grid, method):
    """Mark the links of one pair."""
    rows, columns = grid.shape
    row_free, column_free = np.ones(rows, np.bool_), np.ones(columns, np.bool_)
    for i in range(rows):
        for j in range(columns):
            votes = grid[i, j]
            if (
                (method == _FORWARD and votes & 1)
                or (method == _REVERSE and votes & 2)
                or (method == _UNION and votes)
                or (method not in (_FORWARD, _REVERSE, _UNION) and votes == 3)
            ):
                grid[i, j] |= 4
                row_free[i] = column_free[j] = False
    if method in (_GROW, _FINAL, _FINAL_AND):
        _grow(grid, row_free, column_free)
    if method in (_FINAL, _FINAL_AND):
        for direction in (1, 2):
            for i in range(rows):
                for j in range(columns):
                    if grid[i, j] & direction and not grid[i, j] & 4:
                        both, one = row_free[i] and column_free[j], row_free[i] or column_free[j]
                        if both or (one and method == _FINAL):
                            grid[i, j] |= 4
                            row_free[i] = column_free[j] = False


@nb.njit(cache=True, nogil=True)
def _grow(grid, row_free, column_free):
    """Add neighbours of links, also diagonal ones, that link a free word, until none is left."""
    rows, columns = grid.shape
    growing = True
    while growing:
        growing = False
        for i in range(rows):
            for j in range(columns):
                if not grid[i, j] & 4:
                    continue
                for a in range(max(i - 1, 0), min(i + 2, rows)):
                    for b in range(max(j - 1, 0), min(j + 2, columns)):
                        votes = grid[a, b]
                        if votes and not votes & 4 and (row_free[a] or column_free[b]):
                            grid[a, b] |= 4
                            row_free[a] = column_free[b] = False
                            growing = True
