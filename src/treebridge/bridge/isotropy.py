"""Isotropy: iterative normalization (the paper's section 3.3), fitted once and saved.

Repeat five times: subtract the mean, scale to unit length. Vectors of a pre-trained encoder lie in
a narrow cone; afterwards they point in all directions, which an orthogonal map needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.memmap import pick, release
from treebridge.errors import TreebridgeError

BLOCK = 1 << 14  # rows in memory at a time: 100 MB of 768 dimensions
CACHED = 256  # rows that are normalised at a time
Rows = NDArray[np.floating]


@dataclass(frozen=True)
class Isotropy:
    """The means to subtract, one row per iteration; with no rows, the identity."""

    means: NDArray[np.float64]  # [iterations, dim]

    @classmethod
    def fit(
        cls, vectors: Rows, iterations: int = 5, weights: NDArray[np.floating] | None = None
    ) -> Isotropy:
        """Fit on the rows of an array or memory map, block by block; `weights` are per row."""
        if vectors.ndim != 2 or not len(vectors):
            raise TreebridgeError("isotropy needs at least one vector, found none")
        fitted = cls.none(vectors.shape[1])
        whole = len(vectors) if weights is None else float(weights.sum())
        for _ in range(iterations):
            total = np.zeros(vectors.shape[1])
            for start in range(0, len(vectors), BLOCK):
                here = slice(start, start + BLOCK)
                rows = fitted._apply(vectors[here].astype(np.float64))
                total += rows.sum(0) if weights is None else weights[here] @ rows
                release(vectors)
            if not np.isfinite(total).all():
                raise TreebridgeError("some vectors are not finite; use another encoder")
            fitted = cls(np.vstack([fitted.means, total / whole]))
        return fitted

    @classmethod
    def none(cls, dim: int) -> Isotropy:
        """The identity: no normalisation."""
        return cls(np.zeros((0, dim)))

    def transform(self, vectors: Rows) -> NDArray[np.float32]:
        """Apply the fitted steps; the result for a row does not depend on the other rows."""
        return self._apply(vectors.astype(np.float64)).astype(np.float32)

    def _apply(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Normalise in place, some rows at a time: those fit the processor's cache."""
        for start in range(0, len(vectors), CACHED):
            rows = vectors[start : start + CACHED]
            for mean in self.means:
                rows -= mean
                lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]
                rows /= np.where(lengths > 0, lengths, 1)
        return vectors


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to unit length; all-zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def anisotropy(vectors: Rows, n: int = 1000, seed: int = 0) -> float:
    """Mean cosine over all pairs of n random rows: near 1 for a narrow cone, 0 if isotropic."""
    if len(vectors) < 2:
        return float("nan")
    chosen = np.random.default_rng(seed).choice(len(vectors), min(n, len(vectors)), replace=False)
    rows = unit(pick(vectors, np.sort(chosen)).astype(np.float64))
    total = rows.sum(0)
    own = (rows**2).sum()
    return float((total @ total - own) / (len(rows) * (len(rows) - 1)))
