"""Calibrated confidence: a probability of 80 % should mean that 8 of 10 such arcs are right.

A network is surer than it should be, and more so across a bridge. Dividing its scores by a
temperature corrects that without changing any tree. The temperatures of arcs and labels are those
at which the mean confidence equals the share of arcs that are right. (The usual criterion, the
likelihood of the right arcs, fails here: carried arcs are sometimes wrong themselves, and a few
confident disagreements would make every confidence low.)
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


def fit_temperature(scores: Floats, chosen: NDArray[np.int64], accuracy: float) -> float:
    """The temperature at which the chosen entries have this mean probability: scores [n, k]."""
    if len(chosen) < MIN_ARCS:
        return 1.0
    means = [float(np.exp(_logs(scores / heat, chosen)).mean()) for heat in GRID]
    return float(GRID[int(np.argmin(np.abs(np.array(means) - accuracy)))])


def _logs(scores: Floats, chosen: NDArray[np.int64]) -> Floats:
    """Log-probabilities of the chosen entries."""
    shifted = scores - scores.max(1, keepdims=True)
    total = np.log(np.exp(shifted).sum(1))
    return np.asarray(shifted[np.arange(len(chosen)), chosen] - total)


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
