"""Significance of a difference between two systems, by paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DRAWS, BLOCK = 10_000, 500


@dataclass(frozen=True)
class Comparison:
    """LAS of the first system minus LAS of the second, over all seeds together."""

    systems: tuple[str, str]
    language: str
    difference: float
    low: float  # lower end of the 95 % interval
    high: float  # upper end of the 95 % interval
    p: float  # share of draws in which the first is not better

    def __str__(self) -> str:
        first, second = self.systems
        p = f"p = {self.p:.4f}" if self.p else f"p < {1 / DRAWS:.4f}"
        return (
            f"{self.language}: {first} − {second} = {self.difference:+.2f} LAS, "
            f"95 % {self.low:+.2f} to {self.high:+.2f}, {p}"
        )


def paired_bootstrap(
    systems: tuple[str, str],
    language: str,
    words: Sequence[Sequence[int]],
    first: Sequence[Sequence[int]],
    second: Sequence[Sequence[int]],
    seed: int = 0,
) -> Comparison:
    """Compare two systems; `words` and the correct words of both are [seeds][sentences].

    Sentences are drawn with the results of all seeds, because these are not independent.
    """
    total = np.asarray(words, np.float64).sum(0)  # [sentences]
    gain = np.asarray(first, np.float64).sum(0) - np.asarray(second, np.float64).sum(0)
    n = len(total)
    rng = np.random.default_rng(seed)
    differences = []
    for _ in range(0, DRAWS, BLOCK):
        drawn = rng.integers(0, n, (BLOCK, n))
        differences.append(100 * gain[drawn].sum(1) / np.maximum(total[drawn].sum(1), 1))
    values = np.concatenate(differences)
    low, high = np.percentile(values, [2.5, 97.5])
    return Comparison(
        systems,
        language,
        float(100 * gain.sum() / max(total.sum(), 1)),
        float(low),
        float(high),
        float((values <= 0).mean()),
    )
