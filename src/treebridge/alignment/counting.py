"""Expected counts on several cores, bit-identical for any number of threads.

Sentences are processed in blocks, in three passes. First each thread looks up the probabilities of
the pairs of some *source words*, word by word, so that the table's row of a word stays in the CPU
cache. Then it computes the posteriors of some sentences, and finally it adds those of some source
words to the counts, sentence by sentence. Each count thus receives its parts in the order of the
corpus, and no two threads write to the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numba as nb
import numpy as np
import numpy.typing as npt

from treebridge.alignment.indexed import Floats, IndexedPairs, Offsets
from treebridge.alignment.table import MISSING, ByWord, PairTable, by_word, equal_ranges, find
from treebridge.alignment.threads import Threads

BLOCK = 1 << 21  # approximate word pairs per block: 32 MB of slots and posteriors
PARTS = 16  # of a block; fixed, so that sums over parts do not depend on the number of threads
SHARES = 16  # of a block's source words per thread: rare words take longer
T = TypeVar("T")


class Block(NamedTuple):
    """Posteriors of the sentences from `first`; those of sentence n begin at at[n − first].

    Word pair (i, j) of a sentence with m target words is at i·m + j. Column 0: the target word
    picks the source word; column 1: the source word picks the target word. The array first holds
    the probabilities from which the posteriors are computed.
    """

    first: int
    at: Offsets
    slots: Offsets
    posteriors: Floats
    null_target: Floats  # P(the target word picks NULL), for every target word of the block
    null_source: Floats
    order: ByWord  # of its source words


class Knowledge(NamedTuple):
    """Probabilities or counts of every word pair of a table, and of every word with NULL.

    32 bits are enough: a sum of a million terms has a relative error of about 1e-5.
    """

    pairs: Floats  # [slots, 2]: of the target word given the source word, and the reverse
    null_target: Floats  # [target words]
    null_source: Floats  # [source words]

    @classmethod
    def filled(
        cls, table: PairTable, corpus: IndexedPairs, value: float, double: bool = False
    ) -> Knowledge:
        """Fill all entries with one value."""
        made = cls(
            np.zeros((table.slots, 2), np.float64 if double else np.float32),
            np.zeros(corpus.target_words.size),
            np.zeros(corpus.source_words.size),
        )
        for array in made if value else ():  # zeros are allocated by the threads that use them
            array.fill(value)
        return made


def _blocks(corpus: IndexedPairs, precision: npt.DTypeLike) -> Iterator[Block]:
    """Split a corpus into blocks of about BLOCK word pairs, which share their memory."""
    cells, source, target = corpus.cells, corpus.source.at, corpus.target.at
    edges = [0]
    while edges[-1] < len(corpus):
        last = int(np.searchsorted(cells, cells[edges[-1]] + BLOCK, side="right")) - 1
        edges.append(max(last, edges[-1] + 1))
    room = max(np.diff(cells[edges]), default=0)
    slots, posteriors = np.empty(room, np.int64), np.empty((room, 2), precision)
    for first, last in pairwise(edges):
        size = cells[last] - cells[first]
        yield Block(
            first,
            cells[first : last + 1] - cells[first],
            slots[:size],
            posteriors[:size],
            np.zeros(target[last] - target[first]),
            np.zeros(source[last] - source[first]),
            by_word(corpus.source, first, last, corpus.source_words.size),
        )


def looked_up(
    corpus: IndexedPairs, table: PairTable, known: Knowledge, unseen: float, threads: Threads
) -> Iterator[Block]:
    """Yield the blocks of a corpus, with the probabilities of all word pairs as posteriors."""
    sides = corpus.source, corpus.target
    for block in _blocks(corpus, known.pairs.dtype):

        def look(words: tuple[int, int], block: Block = block) -> None:
            _look_up(*words, block, table, *sides, known.pairs, unseen)

        threads.map(look, equal_ranges(block.order.at, SHARES * threads.number))
        yield block


def expected_counts(
    blocks: Iterable[Block],
    corpus: IndexedPairs,
    counts: Knowledge,
    posteriors: Callable[[Block, int, int], T],
    threads: Threads,
    report: Callable[[float], None],
) -> list[T]:
    """Add the posteriors of all blocks of a corpus to the counts.

    `posteriors(block, first, last)` fills in those of a range of sentences of a block; its results
    are returned in the order of the corpus.
    """
    results: list[T] = []
    for block in blocks:

        def fill(part: tuple[int, int], block: Block = block) -> T:
            return posteriors(block, *part)

        def add(words: tuple[int, int], block: Block = block) -> None:
            _add(*words, block, corpus.source, corpus.target, counts)

        results += threads.map(fill, equal_ranges(block.at, PARTS))
        threads.map(add, equal_ranges(block.order.at, SHARES * threads.number))
        report((block.first + len(block.at) - 1) / len(corpus))
    return results


@nb.njit(cache=True, nogil=True)
def largest(first, last, source, target):
    """Largest numbers of source and target words in a range of sentences."""
    rows, columns = 0, 0
    for n in range(first, last):
        rows = max(rows, source.at[n + 1] - source.at[n])
        columns = max(columns, target.at[n + 1] - target.at[n])
    return rows, columns


@nb.njit(cache=True, nogil=True)
def open_sentence(block, k, source, target):
    """Return the first words of a block's sentence, its numbers of words, and its posteriors."""
    n = block.first + k
    s, t = source.at[n], target.at[n]
    cells = block.posteriors[block.at[k] : block.at[k + 1]]
    return s, t, source.at[n + 1] - s, target.at[n + 1] - t, cells


@nb.njit(cache=True, nogil=True)
def _cells(block, place, target):
    """Return the sentence of a source word of the block, and the range of its word pairs."""
    n = block.order.sentences[place]
    columns = target.at[n + 1] - target.at[n]
    start = block.at[n - block.first] + block.order.positions[place] * columns
    return n, start, start + columns


@nb.njit(cache=True, nogil=True)
def _look_up(first, last, block, table, source, target, pairs, unseen):
    """Look up the slots and probabilities of the pairs of a range of source words."""
    for place in range(block.order.at[first], block.order.at[last]):
        n, start, end = _cells(block, place, target)
        word = source.words[source.at[n] + block.order.positions[place]]
        for cell in range(start, end):
            slot = find(table, word, target.words[target.at[n] + cell - start])
            block.slots[cell] = slot
            block.posteriors[cell, 0] = pairs[slot, 0] if slot != MISSING else unseen
            block.posteriors[cell, 1] = pairs[slot, 1] if slot != MISSING else unseen


@nb.njit(cache=True, nogil=True)
def _add(first, last, block, source, target, counts):
    """Add the posteriors of a range of source words; the first range also adds those of NULL."""
    for place in range(block.order.at[first], block.order.at[last]):
        _, start, end = _cells(block, place, target)
        for cell in range(start, end):
            slot = block.slots[cell]
            if slot != MISSING:
                counts.pairs[slot, 0] += block.posteriors[cell, 0]
                counts.pairs[slot, 1] += block.posteriors[cell, 1]
    if first == 0:
        begin, end = block.first, block.first + len(block.at) - 1
        for k in range(target.at[begin], target.at[end]):
            counts.null_target[target.words[k]] += block.null_target[k - target.at[begin]]
        for k in range(source.at[begin], source.at[end]):
            counts.null_source[source.words[k]] += block.null_source[k - source.at[begin]]
