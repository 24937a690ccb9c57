"""The diagonal prior of fast_align: a word and its translation have similar relative positions.

P(a = NULL) = p0 and P(a = j) = (1 − p0)·exp(λ·h)/Z for h = −|i/m − j/n|; word i of m picks word j
of n, both counted from 1. λ is the tension. Dyer, Chahuneau, Smith (2013), section 2.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from treebridge.alignment.indexed import Offsets, Side

STEPS, STEP_SIZE = 8, 20.0  # of gradient ascent, after every iteration but the first and last
LOWEST, HIGHEST = 0.1, 14.0


@nb.njit(cache=True, nogil=True)
def fill_prior(i, m, n, tension, prior):
    """Write P(a = j | not NULL) for word i of m into prior[:n]: two geometric series."""
    ratio = math.exp(-tension / n)
    below = (i * n) // m  # the last j at or before the diagonal
    total = 0.0
    weight = math.exp(tension * -abs(i / m - below / n))
    for j in range(below, 0, -1):
        prior[j - 1] = weight
        total += weight
        weight *= ratio
    weight = math.exp(tension * -abs(i / m - (below + 1) / n))
    for j in range(below + 1, n + 1):
        prior[j - 1] = weight
        total += weight
        weight *= ratio
    for j in range(n):
        prior[j] /= total


@nb.njit(cache=True, nogil=True)
def expected_feature(i, m, n, tension):
    """The mean of h under the prior, which is dlogZ/dλ, in closed form."""
    ratio = math.exp(-tension / n)
    below = (i * n) // m
    z = slope = 0.0
    for nearest, terms in ((below, below), (below + 1, n - below)):
        if terms:
            h = -abs(i / m - nearest / n)
            weight = math.exp(tension * h)
            last = weight * ratio**terms  # the first term beyond the sum
            series = (weight - last) / (1 - ratio)
            z += series
            # Σ (h − k/n)·weight·ratio^k over k = 0 … terms − 1
            slope += h * series - (ratio * series - terms * last) / (1 - ratio) / n
    return slope / z


@nb.njit(cache=True, nogil=True)
def _expected_total(lengths, counts, tension):
    total = 0.0
    for k in range(len(counts)):
        m, n = lengths[k]
        here = 0.0
        for i in range(1, m + 1):
            here += expected_feature(i, m, n, tension)
        total += counts[k] * here
    return total


def length_classes(picking: Side, picked: Side) -> tuple[Offsets, Offsets]:
    """Return the length pairs (m, n) of non-empty sentence pairs and their frequencies."""
    m, n = picking.lengths(), picked.lengths()
    both = m << 32 | n  # sorting one number is ten times faster than two
    both, counts = np.unique(both[(m > 0) & (n > 0)], return_counts=True)
    return np.stack([both >> 32, both & 0xFFFFFFFF], axis=1), counts


def better_tension(tension: float, feature: float, classes: tuple[Offsets, Offsets]) -> float:
    """Improve the tension by gradient ascent.

    `feature` is the posterior mean of h per picking word. The original counts i from 0 in it but
    from 1 in the prior; here i counts from 1 in both, which gives the true gradient.
    """
    lengths, counts = classes
    words = float(lengths[:, 0] @ counts)
    for _ in range(STEPS if words else 0):
        expected = _expected_total(lengths, counts, tension) / words
        tension = min(max(tension + STEP_SIZE * (feature - expected), LOWEST), HIGHEST)
    return tension
