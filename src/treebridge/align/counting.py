"""Expected counts on several cores, the same to the last bit however many there are.

Sentences are taken in blocks. First every thread computes the posteriors of some sentences of the
block; then every thread adds those of some *source words* to the counts, sentence by sentence. So
each count receives its parts in the order of the corpus, and no two threads write to one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numba as nb
import numpy as np
import numpy.typing as npt

from treebridge.align.encoded import Encoded, Floats, Offsets
from treebridge.align.table import MISSING, PairTable, equal_ranges, find_all
from treebridge.align.threads import Threads

BLOCK = 1 << 20  # word pairs of a block, about: 16 MB of posteriors
PARTS = 16  # of a block; fixed, so that sums over parts do not depend on the number of threads
T = TypeVar("T")


class Block(NamedTuple):
    """Posteriors of the sentences from `first`; sentence n has its word pairs from at[n − first].

    Word pair (i, j) of a sentence with m target words stands at i·m + j. Column 0: the target word
    picks the source word; column 1: the source word picks the target word.
    """

    first: int
    at: Offsets
    slots: Offsets
    posteriors: Floats
    null_target: Floats  # of every target word of the block: that it picks nothing
    null_source: Floats


class Knowledge(NamedTuple):
    """What is known, or counted, about every word pair of a table and about words without one.

    32 bits are enough: a sum of a million parts is off by some 1e-5 of itself.
    """

    pairs: Floats  # [slots, 2]: of the target word given the source word, and the reverse
    null_target: Floats  # [target words]
    null_source: Floats  # [source words]

    @classmethod
    def filled(
        cls, table: PairTable, corpus: Encoded, value: float, double: bool = False
    ) -> Knowledge:
        """The same about all."""
        return cls(
            np.full((table.slots, 2), value, np.float64 if double else np.float32),
            np.full(corpus.target_words.size, value, np.float64),
            np.full(corpus.source_words.size, value, np.float64),
        )


def blocks(corpus: Encoded, precision: npt.DTypeLike = np.float32) -> Iterator[Block]:
    """Cut a corpus into blocks of sentences that have about BLOCK word pairs."""
    cells, source, target = corpus.cells, corpus.source.at, corpus.target.at
    first = 0
    while first < len(corpus):
        last = int(np.searchsorted(cells, cells[first] + BLOCK, side="right")) - 1
        last = max(last, first + 1)
        size = cells[last] - cells[first]
        yield Block(
            first,
            cells[first : last + 1] - cells[first],
            np.empty(size, np.int64),
            np.zeros((size, 2), precision),
            np.zeros(target[last] - target[first]),
            np.zeros(source[last] - source[first]),
        )
        first = last


def expected_counts(
    corpus: Encoded,
    counts: Knowledge,
    posteriors: Callable[[Block, int, int], T],
    threads: Threads,
    report: Callable[[float], None],
) -> list[T]:
    """Add the posteriors of the whole corpus to the counts.

    `posteriors(block, first, last)` fills in those of some sentences of a block; what it returns
    comes back in the order of the corpus.
    """
    results: list[T] = []
    for block in blocks(corpus, counts.pairs.dtype):

        def fill(part: tuple[int, int], block: Block = block) -> T:
            return posteriors(block, *part)

        def add(thread: int, block: Block = block) -> None:
            _add(thread, threads.number, block, corpus.source, corpus.target, counts)

        results += threads.map(fill, equal_ranges(block.at, PARTS))
        threads.map(add, range(threads.number))
        report((block.first + len(block.at) - 1) / len(corpus))
    return results


@nb.njit(cache=True, nogil=True)
def largest(first, last, source, target):
    """The greatest numbers of words among some sentences."""
    rows, columns = 0, 0
    for n in range(first, last):
        rows = max(rows, source.at[n + 1] - source.at[n])
        columns = max(columns, target.at[n + 1] - target.at[n])
    return rows, columns


@nb.njit(cache=True, nogil=True)
def open_sentence(block, k, table, source, target):
    """Where the words of a block's sentence begin, how many they are; its slots, its posteriors."""
    n = block.first + k
    s, t = source.at[n], target.at[n]
    slots = block.slots[block.at[k] : block.at[k + 1]]
    cells = block.posteriors[block.at[k] : block.at[k + 1]]
    find_all(n, table, source, target, slots)
    return s, t, source.at[n + 1] - s, target.at[n + 1] - t, slots, cells


@nb.njit(cache=True, nogil=True)
def _add(thread, threads, block, source, target, counts):
    """Add what belongs to this thread's source words; NULL belongs to the first."""
    for k in range(len(block.at) - 1):
        n = block.first + k
        columns = target.at[n + 1] - target.at[n]
        for i in range(source.at[n + 1] - source.at[n]):
            if source.words[source.at[n] + i] % threads == thread:
                start = block.at[k] + i * columns
                for cell in range(start, start + columns):
                    slot = block.slots[cell]
                    if slot != MISSING:
                        counts.pairs[slot, 0] += block.posteriors[cell, 0]
                        counts.pairs[slot, 1] += block.posteriors[cell, 1]
    if thread == 0:
        first, last = block.first, block.first + len(block.at) - 1
        for k in range(target.at[first], target.at[last]):
            counts.null_target[target.words[k]] += block.null_target[k - target.at[first]]
        for k in range(source.at[first], source.at[last]):
            counts.null_source[source.words[k]] += block.null_source[k - source.at[first]]
