"""The hidden Markov model of one sentence: each pick depends on the previous one.

Vogel, Ney, Tillmann (1996). Word k of `count` picks position i of `states`; the probability of the
jump i − i′ from the previous pick i′ depends on its class, normalized over the jumps inside the
sentence. A word may pick NULL; the chain then stays where it was (Och & Ney 2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from treebridge.alignment.indexed import Floats

REACH = 8  # shorter jumps have a class each, longer ones share three per direction
CLASSES = 2 * REACH + 7
FIRST = -1  # the position from which the first word jumps


@nb.njit(cache=True, nogil=True)
def jump_class(jump):
    """Return the class of a jump; 0 is the farthest back."""
    beyond = abs(jump) - REACH
    far = 0 if beyond <= 0 else 1 if beyond <= 4 else 2 if beyond <= 12 else 3
    middle = REACH + 3
    if jump < 0:
        return middle - min(-jump, REACH) - far
    return middle + min(jump, REACH) + far


def class_widths() -> Floats:
    """Number of jumps in each class, for jumps of up to 60 words."""
    classes = [jump_class(jump) for jump in range(-60, 61)]
    return np.bincount(classes, minlength=CLASSES).astype(np.float64)


class Room(NamedTuple):
    """Scratch space for one sentence at a time."""

    steps: Floats  # [positions + 1, positions]: P(i | i′); last row: of the first word
    ahead: Floats  # [words, positions]: forward probabilities, NULL included
    back: Floats  # [words, positions]: backward probabilities
    moves: Floats  # [positions + 1, positions]: expected number of moves / P(i | i′)
    line: Floats  # [positions]
    scale: Floats  # [words]


@nb.njit(cache=True, nogil=True)
def make_room(size):
    """Allocate scratch space for sentences of up to `size` words."""
    return Room(
        np.empty((size + 1, size)),
        np.empty((size, size)),
        np.empty((size, size)),
        np.empty((size + 1, size)),
        np.empty(size),
        np.empty(size),
    )


@nb.njit(cache=True, nogil=True)
def _fill_steps(states, jumps, null, steps):
    for row in range(states + 1):
        before = row if row < states else FIRST
        total = 0.0
        for i in range(states):
            steps[row, i] = jumps[jump_class(i - before)]
            total += steps[row, i]
        for i in range(states):
            steps[row, i] *= (1 - null) / total


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pick_probabilities(count, states, emit, emit_null, jumps, null, room, picks, jump_counts):
    """Write P(word k picks i | sentence) into picks[k, i]; add the expected jumps to jump_counts.

    `emit[k, i]` is P(word k | word i of the other side), `emit_null[k]` is P(word k | NULL); both
    must be positive.
    """
    steps, ahead, back, moves, line, scale = room
    _fill_steps(states, jumps, null, steps)
    for k in range(count):
        for i in range(states):
            line[i] = 0.0
        if k == 0:
            for i in range(states):
                line[i] = steps[states, i]
        else:
            for before in range(states):
                weight = ahead[k - 1, before]
                for i in range(states):
                    line[i] += weight * steps[before, i]
        stay = null * emit_null[k]
        total = 0.0
        for i in range(states):
            picks[k, i] = line[i] * emit[k, i]  # word k picks i; with NULL, the chain stays at i
            stayed = ahead[k - 1, i] if k else 1.0 / states
            ahead[k, i] = picks[k, i] + stay * stayed
            total += ahead[k, i]
        scale[k] = 1 / total
        for i in range(states):
            ahead[k, i] *= scale[k]
            picks[k, i] *= scale[k]
    for row in range(states + 1):
        for i in range(states):
            moves[row, i] = 0.0
    for i in range(states):
        back[count - 1, i] = 1.0
    for k in range(count - 1, -1, -1):
        for i in range(states):
            line[i] = emit[k, i] * back[k, i] * scale[k]
            picks[k, i] *= back[k, i]
        if k == 0:
            for i in range(states):
                moves[states, i] = line[i]
            break
        stay = null * emit_null[k] * scale[k]
        for before in range(states):
            weight = ahead[k - 1, before]
            total = 0.0
            for i in range(states):
                total += steps[before, i] * line[i]
                moves[before, i] += weight * line[i]
            back[k - 1, before] = total + stay * back[k, before]
    for row in range(states + 1):
        before = row if row < states else FIRST
        for i in range(states):
            jump_counts[jump_class(i - before)] += moves[row, i] * steps[row, i]
