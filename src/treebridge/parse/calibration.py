"""Calibrated confidence: a probability of 80 % should mean that 8 of 10 such arcs are right.

A network is surer than it should be, and more so across a bridge. Dividing its scores by a
temperature corrects that without changing any tree. The temperatures of arcs and labels are fitted
on arcs that are known: carried over from held-out source trees, or annotated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10
GRID = np.geomspace(0.25, 8, 101)  # temperatures tried, 1 among them
MIN_ARCS = 100  # fewer say too little
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


class Temperatures(NamedTuple):
    """What the scores of arcs and labels are divided by."""

    arc: float = 1.0
    label: float = 1.0


UNCHANGED = Temperatures()


class Bin(NamedTuple):
    """Arcs of similar confidence: mean confidence, share that is right, and their number."""

    confidence: float
    accuracy: float
    arcs: int


def fit_temperature(scores: Floats, gold: NDArray[np.int64]) -> float:
    """The temperature at which the gold choices are most likely: scores [n, choices], gold [n]."""
    if len(gold) < MIN_ARCS:
        return 1.0
    losses = [float(-_chosen(scores / heat, gold).mean()) for heat in GRID]
    return float(GRID[int(np.argmin(losses))])


def _chosen(scores: Floats, gold: NDArray[np.int64]) -> Floats:
    """Log-probabilities of the gold choices."""
    shifted = scores - scores.max(1, keepdims=True)
    total = np.log(np.exp(shifted).sum(1))
    return np.asarray(shifted[np.arange(len(gold)), gold] - total)


def reliability(confidence: Floats, right: Bools, bins: int = BINS) -> list[Bin]:
    """Confidence and accuracy in bins of equal width; empty bins are left out."""
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    return [
        Bin(float(confidence[here].mean()), float(right[here].mean()), int(here.sum()))
        for number in range(bins)
        if (here := place == number).any()
    ]


def calibration_error(bins: Iterable[Bin]) -> float:
    """Expected calibration error: mean difference of confidence and accuracy, over arcs."""
    bins = list(bins)
    whole = sum(one.arcs for one in bins)
    if not whole:
        return float("nan")
    return sum(one.arcs * abs(one.confidence - one.accuracy) for one in bins) / whole
