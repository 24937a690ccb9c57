"""Posteriors of the two directions of the `hmm` engine, and the choices that follow from them.

Compiled; each of several threads fills a range of a block of sentences.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from treebridge.alignment.chain import make_room, pick_probabilities
from treebridge.alignment.counting import largest, open_sentence

UNSEEN = 1e-12  # added to every probability, so that no sentence is impossible


@nb.njit(cache=True, nogil=True)
def fill_posteriors(block, first, last, source, target, known, chains, agree, jumps):
    """Fill in the posteriors of a range of sentences, or their products; add up expected jumps."""
    rows, columns = largest(block.first + first, block.first + last, source, target)
    size = max(rows, columns, 1)
    room = make_room(size)
    emit_forward, emit_reverse = np.empty((size, size)), np.empty((size, size))
    null_forward, null_reverse = np.empty(size), np.empty(size)
    forward, reverse = np.empty((size, size)), np.empty((size, size))
    for k in range(first, last):
        s, t, rows, columns, cells = open_sentence(block, k, source, target)
        if rows == 0 or columns == 0:
            continue
        for i in range(rows):
            for j in range(columns):
                emit_forward[j, i] = UNSEEN + cells[i * columns + j, 0]
                emit_reverse[i, j] = UNSEEN + cells[i * columns + j, 1]
        for j in range(columns):
            word = target.words[t + j]
            null_forward[j] = UNSEEN + (known.null_target[word] if word >= 0 else 0.0)
        for i in range(rows):
            word = source.words[s + i]
            null_reverse[i] = UNSEEN + (known.null_source[word] if word >= 0 else 0.0)
        pick_probabilities(
            columns, rows, emit_forward, null_forward,
            chains.jumps[0], chains.null, room, forward, jumps[0],
        )  # fmt: skip
        pick_probabilities(
            rows, columns, emit_reverse, null_reverse,
            chains.jumps[1], chains.null, room, reverse, jumps[1],
        )  # fmt: skip
        for j in range(columns):
            rest = 1.0
            for i in range(rows):
                rest -= forward[j, i]
            block.null_target[t + j - target.at[block.first]] = max(rest, 0.0)
        for i in range(rows):
            rest = 1.0
            for j in range(columns):
                rest -= reverse[i, j]
            block.null_source[s + i - source.at[block.first]] = max(rest, 0.0)
        for i in range(rows):
            for j in range(columns):
                a, b = forward[j, i], reverse[i, j]
                cells[i * columns + j, 0] = a * b if agree else a
                cells[i * columns + j, 1] = a * b if agree else b


@nb.njit(cache=True, nogil=True)
def pick_by_both(block, first, last, source, target, threshold, forward, reverse):
    """Let each word of a range of sentences pick by the geometric mean of the two posteriors."""
    for k in range(first, last):
        n = block.first + k
        s, t = source.at[n], target.at[n]
        rows, columns = source.at[n + 1] - s, target.at[n + 1] - t
        best_of_row, best_of_column = np.full(rows, threshold), np.full(columns, threshold)
        for i in range(rows):
            for j in range(columns):
                cell = block.at[k] + i * columns + j
                mean = math.sqrt(block.posteriors[cell, 0] * block.posteriors[cell, 1])
                if mean > best_of_column[j]:
                    best_of_column[j] = mean
                    forward[t + j] = i
                if mean > best_of_row[i]:
                    best_of_row[i] = mean
                    reverse[s + i] = j
