"""Batches: sentences packed into rows without gaps, with some words masked.

A sentence attends only to itself and its positions start at 0, as when the encoder is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.pretrain.lessons import Lessons
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import CLS, MASK, PAD, SEP, SPECIAL

BLOCK = 1 << 15  # segments that are packed together
Ids = NDArray[np.int64]
NONE: Ids = np.zeros(0, np.int64)


class Batch(NamedTuple):
    """Rows of pieces; `masked` are positions in the flattened batch, `answers` their pieces."""

    ids: Ids  # [rows, length]
    positions: Ids  # [rows, length]
    owner: Ids  # [rows, length]: which sentence a piece belongs to, 0 for padding
    masked: Ids  # [masked]
    answers: Ids  # [masked]
    aligned: Ids = NONE  # [aligned]: positions of pieces of aligned words that are not masked
    lessons: Ids = NONE  # [aligned]: rows of the teacher's vectors


def pack(lengths: Sequence[int], room: int) -> list[list[int]]:
    """Pack items into rows by best fit: the longest first, then the longest that still fits."""
    by_length: list[list[int]] = [[] for _ in range(room + 1)]
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    # Bit n is set while there are items of length n.
    remaining = sum(1 << length for length in range(1, room + 1) if by_length[length])
    rows = []
    while remaining:
        row, left = [], room
        while fitting := remaining & ((2 << left) - 1):
            length = fitting.bit_length() - 1
            row.append(by_length[length].pop())
            left -= length
            if not by_length[length]:
                remaining ^= 1 << length
        rows.append(row)
    return rows


def all_rows(corpus: Corpus, length: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows of segments endlessly, in another order each epoch."""
    train = corpus.train()
    sizes = np.diff(corpus.starts) + 2  # [CLS] and [SEP]
    epoch = 0
    while True:
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(train)
        for first in range(0, len(order), BLOCK):
            block = order[first : first + BLOCK]
            rows = pack(sizes[block].tolist(), length)
            for index in rng.permutation(len(rows)):
                yield block[rows[index]]
        epoch += 1


def training_batches(
    corpus: Corpus,
    settings: PretrainSettings,
    first: int,
    rank: int,
    size: int,
    lessons: Lessons | None = None,
) -> Iterator[Batch]:
    """Yield the batches of one of `size` processes, from step `first` on.

    With lessons, every other batch is one of them.
    """
    count = settings.batch // settings.length
    texts = [corpus] if lessons is None else [corpus, lessons.corpus]
    rows = [all_rows(text, settings.length, settings.seed) for text in texts]
    inside = corpus.inside()
    step = 0
    while True:
        which = step % len(texts)
        taken = [next(rows[which]) for _ in range(count * size)]
        if step >= first:
            rng = np.random.default_rng([settings.seed, step, rank])
            mine = taken[rank * count : (rank + 1) * count]
            yield make_batch(texts[which], mine, settings, inside, rng, lessons if which else None)
        step += 1


def held_out_batches(corpus: Corpus, settings: PretrainSettings) -> list[Batch]:
    """Return the held-out segments, masked the same way each time."""
    held_out = corpus.held_out()
    sizes = (np.diff(corpus.starts) + 2)[held_out]
    rows = pack(sizes.tolist(), settings.length)
    count, inside = settings.batch // settings.length, corpus.inside()
    rng = np.random.default_rng(settings.seed)
    return [
        make_batch(corpus, [held_out[row] for row in rows[i : i + count]], settings, inside, rng)
        for i in range(0, len(rows), count)
    ]


def make_batch(
    corpus: Corpus,
    rows: Sequence[NDArray[np.int64]],
    settings: PretrainSettings,
    inside: NDArray[np.bool_],
    rng: np.random.Generator,
    lessons: Lessons | None = None,
) -> Batch:
    """Fill rows with segments and mask some of their words."""
    ids = np.full((len(rows), settings.length), PAD, np.int64)
    positions, owner = np.zeros_like(ids), np.zeros_like(ids)
    taught = np.full_like(ids, -1)
    for i, row in enumerate(rows):
        at = 0
        for number, segment in enumerate(row, 1):
            start, stop = corpus.starts[segment], corpus.starts[segment + 1]
            end = at + int(stop - start) + 2
            ids[i, at], ids[i, end - 1] = CLS, SEP
            ids[i, at + 1 : end - 1] = corpus.pieces[start:stop]
            positions[i, at:end] = np.arange(end - at)
            owner[i, at:end] = number
            if lessons is not None:
                taught[i, at + 1 : end - 1] = lessons.rows[start:stop]
            at = end
    flat = ids.reshape(-1)
    masked = choose_words(flat, inside, settings.masked, rng)
    answers = flat[masked]
    flat[masked] = _replacements(flat, masked, inside, rng)
    flat_taught = taught.reshape(-1)
    flat_taught[masked] = -1
    aligned = np.flatnonzero(flat_taught >= 0)
    return Batch(ids, positions, owner, masked, answers, aligned, flat_taught[aligned])


def choose_words(
    pieces: Ids, inside: NDArray[np.bool_], share: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Choose whole words at random, at least one; return the positions of their pieces."""
    words = np.cumsum(~inside[pieces])
    chosen = rng.random(int(words[-1]) + 1) < share
    real = pieces >= len(SPECIAL)
    if not (chosen[words] & real).any():
        chosen[rng.choice(words[real])] = True
    return np.flatnonzero(chosen[words] & real)


def _replacements(
    pieces: Ids, masked: NDArray[np.int64], inside: NDArray[np.bool_], rng: np.random.Generator
) -> Ids:
    """BERT's rule, applied to whole words: 80 % [MASK], 10 % random pieces, 10 % unchanged."""
    words = np.cumsum(~inside[pieces])[masked]
    draw = rng.random(int(words[-1]) + 1)[words]
    other = rng.integers(len(SPECIAL), len(inside), len(masked))
    return np.where(draw < 0.8, MASK, np.where(draw < 0.9, other, pieces[masked]))
