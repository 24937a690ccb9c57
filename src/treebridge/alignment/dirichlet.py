"""From counts to probabilities: the mean-field estimate under a Dirichlet prior.

exp(ψ(c + α) − ψ(Σ(c + α))) with a small α keeps rare words from explaining everything.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from treebridge.alignment.counting import PARTS, Knowledge
from treebridge.alignment.table import PairTable, equal_ranges
from treebridge.alignment.threads import Threads


def normalize(table: PairTable, counts: Knowledge, alpha: float, threads: Threads) -> None:
    """Turn counts into probabilities, in place."""
    parts = equal_ranges(table.starts, PARTS)
    sums = threads.map(lambda part: _column_sums(*part, table, counts, alpha), parts)
    norms = _digammas(sum(sums, np.zeros(len(counts.null_target))))
    threads.map(lambda part: _normalize_rows(*part, table, counts.pairs, norms, alpha), parts)
    _normalize_null(counts.null_target, alpha)
    _normalize_null(counts.null_source, alpha)


@nb.njit(cache=True, nogil=True)
def digamma(x):
    """ψ(x) for x > 0: the recurrence up to 6, then the asymptotic series; exact to 1e-10.

    0 at 0, the total of a word without partners, whose probabilities are never used.
    """
    if x <= 0.0:
        return 0.0
    result = 0.0
    while x < 6.0:
        result -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132)))))
    return result + math.log(x) - 0.5 / x - series


@nb.njit(cache=True, nogil=True)
def _column_sums(first, last, table, counts, alpha):
    """Σ(c + α) of the reverse direction, over a range of rows."""
    totals = np.zeros(len(counts.null_target))
    for slot in range(table.starts[first], table.starts[last]):
        if table.keys[slot] >= 0:
            totals[table.keys[slot]] += counts.pairs[slot, 1] + alpha
    return totals


@nb.njit(cache=True, nogil=True)
def _normalize_rows(first, last, table, counts, norms, alpha):
    for row in range(first, last):
        slots = range(table.starts[row], table.starts[row + 1])
        total = 0.0
        for slot in slots:
            if table.keys[slot] >= 0:
                total += counts[slot, 0] + alpha
        norm = digamma(total)
        for slot in slots:
            word = table.keys[slot]
            if word >= 0:
                counts[slot, 0] = math.exp(digamma(counts[slot, 0] + alpha) - norm)
                counts[slot, 1] = math.exp(digamma(counts[slot, 1] + alpha) - norms[word])


@nb.njit(cache=True, nogil=True)
def _normalize_null(counts, alpha):
    total = 0.0
    for count in counts:
        total += count + alpha
    norm = digamma(total)
    for k in range(len(counts)):
        counts[k] = math.exp(digamma(counts[k] + alpha) - norm)


@nb.njit(cache=True, nogil=True)
def _digammas(values):
    result = np.empty_like(values)
    for k in range(len(values)):
        result[k] = digamma(values[k])
    return result
