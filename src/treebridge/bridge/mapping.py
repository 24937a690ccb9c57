"""Linear maps from target vectors (rows X) to source vectors (rows Y): X @ W.T ≈ Y."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from treebridge.errors import TreebridgeError

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
ROWS = 4096  # converted to double precision at a time
PART = 64  # rows of a similarity matrix held in memory at a time
WEIGHTINGS: dict[str, Callable[[Matrix], Matrix]] = {
    "none": np.ones_like,
    "sqrt": np.sqrt,
    "count": lambda counts: counts,
}


class Moments:
    """Sums, YᵀX and XᵀX, accumulated block by block in double precision."""

    def __init__(self, target_dim: int, source_dim: int):
        self.cross = np.zeros((source_dim, target_dim))  # YᵀX
        self.square = np.zeros((target_dim, target_dim))  # XᵀX
        self.target, self.source = np.zeros(target_dim), np.zeros(source_dim)  # sums of X and Y
        self.weight = 0.0
        self.count = 0

    def add(
        self, x: NDArray[np.floating], y: NDArray[np.floating], weights: Matrix | None = None
    ) -> None:
        """Add rows of paired vectors."""
        for start in range(0, len(x), ROWS):
            here = slice(start, start + ROWS)
            left, right = x[here].astype(np.float64), y[here].astype(np.float64)
            weight = np.ones(len(left)) if weights is None else weights[here]
            weighted = left if weights is None else left * weight[:, None]
            self.cross += right.T @ weighted
            self.square += left.T @ weighted
            self.target += weight @ left
            self.source += weight @ right
            self.weight += float(weight.sum())
        self.count += len(x)

    def centred(self) -> Moments:
        """The moments of the same rows with their means subtracted."""
        made = Moments(len(self.target), len(self.source))
        mean = self.target / max(self.weight, 1e-300)
        made.cross = self.cross - np.outer(self.source, mean)
        made.square = self.square - np.outer(self.target, mean)
        made.weight, made.count = self.weight, self.count
        return made


def orthogonal(moments: Moments) -> Matrix:
    """Orthogonal Procrustes: W = U Vᵀ from the SVD of YᵀX; semi-orthogonal if sizes differ."""
    _check(moments)
    u, _, vt = np.linalg.svd(moments.cross, full_matrices=False)
    return np.asarray(u @ vt)


def least_squares(moments: Moments, ridge: float = 1e-6) -> Matrix:
    """W = YᵀX (XᵀX)⁻¹, with a small ridge for directions without data."""
    _check(moments)
    scale = ridge * np.trace(moments.square) / len(moments.square)
    square = moments.square + scale * np.eye(len(moments.square))
    return np.linalg.solve(square, moments.cross.T).T


def blend(moments: Moments, pull: float = 1.0) -> Matrix:
    """Least squares pulled towards the orthogonal map R: minimise ‖XWᵀ − Y‖² + λ‖W − R‖².

    λ is `pull` times the mean square of X per direction; for isotropic X, 1 is halfway.
    """
    rotation = orthogonal(moments)
    square = moments.square
    weight = pull * np.trace(square) / len(square)
    pulled = moments.cross + weight * rotation
    return np.linalg.solve(square + weight * np.eye(len(square)), pulled.T).T


MAPS: dict[str, Callable[[Moments], Matrix]] = {
    "procrustes": orthogonal,
    "least-squares": least_squares,
    "blend": blend,
}


def affine(moments: Moments, map: str, *, translation: bool) -> tuple[Matrix, Vector]:
    """A map W and a translation b with X @ W.T + b ≈ Y; without `translation`, b is zero.

    W is fitted on centred rows, and b takes the mean of X to the mean of Y.
    """
    if not translation:
        return MAPS[map](moments), np.zeros(len(moments.source))
    w = MAPS[map](moments.centred())
    b = (moments.source - w @ moments.target) / max(moments.weight, 1e-300)
    return w, b


def _check(moments: Moments) -> None:
    needed = min(moments.cross.shape)
    if moments.count < needed:
        raise TreebridgeError(
            f"{moments.count:,} anchors are too few for a map of {needed} dimensions; give more "
            "parallel text, or use all words as anchors if only whole words were used"
        )
    if not np.isfinite(moments.cross).all():
        raise TreebridgeError("some anchors are not finite; use another encoder")


def similarities(x: NDArray[np.floating], y: NDArray[np.floating]) -> Iterator[Matrix]:
    """Yield x·yᵀ in double precision, a few rows at a time."""
    there = y.astype(np.float64).T
    for start in range(0, len(x), PART):
        yield x[start : start + PART].astype(np.float64) @ there


def csls(
    x: NDArray[np.floating], y: NDArray[np.floating], neighbours: int = 10
) -> Iterator[Matrix]:
    """Cross-domain similarity local scaling: 2·cos minus each side's mean cosine to its neighbours.

    Yields a few rows of x (unit vectors) at a time, against all of y; penalises hubs.
    """
    k = min(neighbours, len(x), len(y))

    def nearest(rows: Matrix) -> Matrix:
        return np.asarray(np.partition(rows, -k, axis=1)[:, -k:].mean(1))

    column = np.concatenate([nearest(rows) for rows in similarities(y, x)])
    for rows in similarities(x, y):
        yield 2 * rows - nearest(rows)[:, None] - column


def rcsls(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    neighbours: int = 10,
    iterations: int = 10,
    rate: float = 1.0,
    max_candidates: int = 20000,
) -> Matrix:
    """Relaxed CSLS (Joulin et al. 2018): gradient descent on the retrieval loss, from Procrustes.

    The rate is halved whenever the loss rises; the spectral norm of W stays at most one.
    """
    moments = Moments(x.shape[1], y.shape[1])
    moments.add(x, y)
    w = orthogonal(moments)
    left, right = x.astype(np.float64), y.astype(np.float64)
    best, best_loss, previous = w, np.inf, np.inf
    for _ in range(iterations):
        loss, gradient = _rcsls_loss(w, left, right, neighbours, max_candidates)
        if loss < best_loss:
            best, best_loss = w, loss
        if loss > previous:
            rate /= 2
        previous = loss
        u, s, vt = np.linalg.svd(w - rate * gradient, full_matrices=False)
        w = (u * np.minimum(s, 1)) @ vt
    return best


def _rcsls_loss(
    w: Matrix, x: Matrix, y: Matrix, neighbours: int, max_candidates: int
) -> tuple[float, Matrix]:
    mapped = x @ w.T
    n = len(x)
    loss = -2 * float((mapped * y).sum()) / n
    gradient = -2 * (y.T @ x) / n
    pool_y, pool_x = y[:max_candidates], x[:max_candidates]
    # Mean similarity of each mapped x to its nearest y, and of each y to its nearest mapped x.
    for queries, pool, of_x in ((mapped, pool_y, True), (y, pool_x @ w.T, False)):
        k = min(neighbours, len(pool))
        for start in range(0, n, 2048):
            similarity = queries[start : start + 2048] @ pool.T
            nearest = np.argpartition(similarity, -k, axis=1)[:, -k:]
            loss += float(np.take_along_axis(similarity, nearest, 1).mean(1).sum()) / n
            if of_x:
                gradient += pool_y[nearest].mean(1).T @ x[start : start + 2048] / n
            else:
                gradient += y[start : start + 2048].T @ pool_x[nearest].mean(1) / n
    return loss, gradient
