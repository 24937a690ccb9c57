"""Sentences of about the same length side by side, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.sentence import MAX_WORDS
from treebridge.errors import TreebridgeError

Rows = NDArray[np.floating]
Indices = NDArray[np.int64]


def check_lengths(lengths: Iterable[int], before: int = 0) -> None:
    """Refuse a sentence that would take too much memory; `before` is how many came earlier.

    Its words are given, so it is not for us to split it; raw text never comes to this.
    """
    for number, length in enumerate(lengths, before + 1):
        if length > MAX_WORDS:
            raise TreebridgeError(
                f"sentence {number:,} has {length:,} words, and a parser takes at most "
                f"{MAX_WORDS:,}; split it into several"
            )


def cut_batches(
    lengths: Indices, order: Indices, words: int = 0, sentences: int = 0
) -> list[Indices]:
    """Cut an order of sentences into batches within the limits (0 is none), longest first."""
    check_lengths(lengths.tolist())
    batches: list[Indices] = []
    batch: list[int] = []
    longest = 0
    for index in order.tolist():
        longest = max(longest, int(lengths[index]))
        full = sentences and len(batch) == sentences
        long = words and (len(batch) + 1) * longest > words
        if batch and (full or long):
            batches.append(_longest_first(batch, lengths))
            batch, longest = [], int(lengths[index])
        batch.append(index)
    if batch:
        batches.append(_longest_first(batch, lengths))
    return batches


def batches_by_length(lengths: Indices, words: int, sentences: int = 0) -> list[Indices]:
    """Batches of all sentences that have words, the shortest first."""
    order = lengths.argsort(kind="stable")
    return cut_batches(lengths, order[lengths[order] > 0], words, sentences)


def _longest_first(batch: list[int], lengths: Indices) -> Indices:
    indices = np.array(batch)
    return indices[np.argsort(-lengths[indices], kind="stable")]


def pad_vectors(vectors: Sequence[Rows]) -> NDArray[np.float32]:
    """Vectors side by side, zeros past the end; the longest sentence is the first."""
    padded = np.zeros((len(vectors), len(vectors[0]), vectors[0].shape[1]), np.float32)
    for row, part in zip(padded, vectors, strict=True):
        row[: len(part)] = part
    return padded


def pad_numbers(columns: Sequence[Indices] | None, shape: tuple[int, ...]) -> Indices:
    """Numbers side by side, −1 past the end or where there are none."""
    out = np.full(shape, -1, np.int64)
    for row, column in zip(out, columns or (), strict=False):
        row[: len(column)] = column
    return out
