"""A hash table of the word pairs that co-occur in a sentence pair.

Each source word has a row with the target words that it co-occurs with, in open addressing. Both
directions and both engines share it: they keep probabilities and counts in separate arrays, indexed
by the pair's slot.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from treebridge.alignment.indexed import IndexedPairs, Ints, Offsets
from treebridge.alignment.threads import Threads

EMPTY = -1
MISSING = np.int64(-1)
_CHUNKS = 64  # of rows with equally many tokens: enough to keep all cores busy


class PairTable(NamedTuple):
    """Row s has the slots starts[s] to starts[s + 1]; a slot holds a target word or EMPTY."""

    starts: Offsets
    keys: Ints

    @property
    def slots(self) -> int:
        """Number of slots, a sixth of them empty."""
        return len(self.keys)

    @classmethod
    def build(
        cls, corpus: IndexedPairs, threads: Threads, *, common: int | None = None
    ) -> PairTable:
        """Collect for every source word the target words of its sentences.

        With `common`, two words that each occur at least this often but co-occur only once are left
        out as coincidental. These are most of all pairs.
        """
        rows, columns = corpus.source_words.size, corpus.target_words.size
        source, target = corpus.source, corpus.target
        order = by_word(source, 0, len(corpus), rows)
        places, at = order.sentences, order.at[:-1]
        seen = np.bincount(target.words, minlength=columns)
        frequent = seen >= (common or len(corpus.target.words) + 1)
        ranges = equal_ranges(at, _CHUNKS)
        sizes = np.zeros(rows, np.int64)
        need = common or 0
        threads.map(lambda r: _size_rows(*r, places, at, target, frequent, need, sizes), ranges)
        starts = np.zeros(rows + 1, np.int64)
        # A free slot in every row ends the search for a missing word.
        np.cumsum(sizes + sizes // 5 + 1, out=starts[1:])
        table = cls(starts, np.full(starts[-1], EMPTY, np.int32))
        threads.map(lambda r: _fill_rows(*r, places, at, target, frequent, need, table), ranges)
        return table


def equal_ranges(at: Offsets, parts: int) -> list[tuple[int, int]]:
    """Split offsets into non-empty ranges of about the same size."""
    cuts = np.searchsorted(at, np.linspace(0, at[-1], parts + 1)[1:-1])
    edges = np.unique(np.concatenate([[0], cuts, [len(at) - 1]]))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


class ByWord(NamedTuple):
    """Occurrences sorted by word: those of word w from at[w] to at[w + 1], unknown words last."""

    at: Offsets
    sentences: Ints
    positions: npt.NDArray[np.int16]


@nb.njit(cache=True, nogil=True)
def by_word(side, first, last, rows):
    """Sort the words of a range of sentences by their ids, which are below `rows`."""
    start, end = side.at[first], side.at[last]
    at = np.zeros(rows + 2, np.int64)
    for word in side.words[start:end]:
        at[word % (rows + 1) + 1] += 1
    for row in range(rows + 1):
        at[row + 1] += at[row]
    cursor = at[:-1].copy()
    sentences, positions = np.empty(end - start, np.int32), np.empty(end - start, np.int16)
    for n in range(first, last):
        for k in range(side.at[n], side.at[n + 1]):
            row = side.words[k] % (rows + 1)
            sentences[cursor[row]] = n
            positions[cursor[row]] = k - side.at[n]
            cursor[row] += 1
    return ByWord(at, sentences, positions)


@nb.njit(cache=True, nogil=True)
def _meets(row, places, at, target, frequent, need, met_by, times, met):
    """Write the target words that co-occur with a row (twice, if both are frequent) into `met`."""
    often = need > 0 and at[row + 1] - at[row] >= need
    size = 0
    for place in range(at[row], at[row + 1]):
        n = places[place]
        for k in range(target.at[n], target.at[n + 1]):
            word = target.words[k]
            if met_by[word] != row:
                met_by[word] = row
                times[word] = 0
            times[word] += 1
            if times[word] == (2 if often and frequent[word] else 1):
                met[size] = word
                size += 1
    return size


@nb.njit(cache=True, nogil=True)
def _size_rows(first, last, places, at, target, frequent, need, sizes):
    met_by = np.full(len(frequent), -1, np.int32)  # the last row that met this word
    times, met = np.zeros(len(frequent), np.int32), np.empty(len(frequent), np.int32)
    for row in range(first, last):
        sizes[row] = _meets(row, places, at, target, frequent, need, met_by, times, met)


@nb.njit(cache=True, nogil=True)
def _fill_rows(first, last, places, at, target, frequent, need, table):
    met_by = np.full(len(frequent), -1, np.int32)
    times, met = np.zeros(len(frequent), np.int32), np.empty(len(frequent), np.int32)
    for row in range(first, last):
        size = _meets(row, places, at, target, frequent, need, met_by, times, met)
        for word in met[:size]:
            slot = _first_slot(table, row, word)
            while table.keys[slot] >= 0:
                slot += 1
                if slot == table.starts[row + 1]:
                    slot = table.starts[row]
            table.keys[slot] = word


@nb.njit(cache=True, nogil=True)
def _first_slot(table, row, word):
    """Where the search for a word begins: Knuth's multiplicative hash, scaled to the row."""
    mixed = (np.uint64(word) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    size = np.uint64(table.starts[row + 1] - table.starts[row])
    return table.starts[row] + np.int64((mixed * size) >> np.uint64(32))


@nb.njit(cache=True, nogil=True)
def find(table, row, word):
    """Return the slot of a word pair, or MISSING; ids below 0 are unknown words."""
    if row < 0 or word < 0:
        return MISSING
    slot = _first_slot(table, row, word)
    while table.keys[slot] != word:
        if table.keys[slot] < 0:
            return MISSING
        slot += 1
        if slot == table.starts[row + 1]:
            slot = table.starts[row]
    return slot
