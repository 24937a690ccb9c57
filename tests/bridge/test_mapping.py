"""Maps: known answers, and scipy as oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes

from treebridge import TreebridgeError
from treebridge.bridge.mapping import (
    WEIGHTINGS,
    Moments,
    _rcsls_loss,
    blend,
    csls,
    least_squares,
    orthogonal,
    rcsls,
)


def rotation(rows: int, columns: int, seed: int) -> np.ndarray:
    """A random matrix with orthonormal rows or columns."""
    big = max(rows, columns)
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(big, big)))[0][:rows, :columns]


def moments(x, y, weights=None) -> Moments:
    found = Moments(x.shape[1], y.shape[1])
    for start in range(0, len(x), 37):  # in blocks, as a stream
        part = slice(start, start + 37)
        found.add(x[part], y[part], None if weights is None else weights[part])
    return found


@given(st.integers(2, 12), st.integers(0, 1000), st.floats(0, 0.05))
def test_a_rotation_is_recovered(dim: int, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, dim))
    true = rotation(dim, dim, seed)
    y = x @ true.T + noise * rng.normal(size=(300, dim))
    w = orthogonal(moments(x, y))
    np.testing.assert_allclose(w.T @ w, np.eye(dim), atol=1e-6)
    assert np.linalg.norm(w - true) < 0.01 + 2 * noise
    np.testing.assert_allclose(w.T, orthogonal_procrustes(x, y)[0], atol=1e-8)


@pytest.mark.parametrize(("target", "source"), [(6, 10), (10, 6)])
def test_different_dimensions(target: int, source: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, target))
    true = rotation(source, target, 2)
    w = orthogonal(moments(x, x @ true.T))
    assert w.shape == (source, target)
    small = w.T @ w if target < source else w @ w.T
    np.testing.assert_allclose(small, np.eye(min(target, source)), atol=1e-6)
    if target < source:
        np.testing.assert_allclose(w, true, atol=1e-6)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 5)), rng.normal(size=(50, 5))
    counts = rng.integers(1, 6, 50)
    repeated = orthogonal(moments(np.repeat(x, counts, 0), np.repeat(y, counts, 0)))
    weights = WEIGHTINGS["count"](counts.astype(float))
    np.testing.assert_allclose(orthogonal(moments(x, y, weights)), repeated, atol=1e-9)


def test_least_squares() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(200, 5)), rng.normal(size=(200, 7))
    expected = np.linalg.lstsq(x, y, rcond=None)[0].T
    np.testing.assert_allclose(least_squares(moments(x, y), ridge=1e-12), expected, atol=1e-6)


def test_a_blend_is_least_squares_pulled_towards_the_rotation() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(300, 6))
    y = x @ rng.normal(size=(6, 6)).T + rng.normal(size=(300, 6))
    both = moments(x, y)
    straight, turned, between = least_squares(both), orthogonal(both), blend(both)
    np.testing.assert_allclose(blend(both, pull=1e-9), straight, atol=1e-4)
    np.testing.assert_allclose(blend(both, pull=1e9), turned, atol=1e-4)
    losses = [np.square(x @ w.T - y).sum() for w in (straight, between, turned)]
    assert losses == sorted(losses)
    away = [np.linalg.norm(w - turned) for w in (straight, between)]
    assert 0.3 < away[1] / away[0] < 0.7  # about halfway, as x is isotropic
    true = rotation(6, 6, 2)
    np.testing.assert_allclose(blend(moments(x, x @ true.T)), true, atol=1e-8)


def test_too_few_and_broken_anchors() -> None:
    x = np.random.default_rng(5).normal(size=(4, 9))
    with pytest.raises(TreebridgeError, match="4 anchors are too few for a map of 9 dimensions"):
        orthogonal(moments(x, x))
    with pytest.raises(TreebridgeError, match="not finite"):
        orthogonal(moments(np.full((20, 9), np.nan), np.ones((20, 9))))


def test_csls_against_the_definition() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(8, 5)), rng.normal(size=(15, 5))
    similarity = x @ y.T
    found = np.vstack(list(csls(x, y, neighbours=3)))
    for q in range(8):
        for c in range(15):
            near_q = np.sort(similarity[q])[-3:].mean()
            near_c = np.sort(similarity[:, c])[-3:].mean()
            assert found[q, c] == pytest.approx(2 * similarity[q, c] - near_q - near_c)


def relaxed_loss(w: np.ndarray, x: np.ndarray, y: np.ndarray, k: int) -> float:
    """The loss of Joulin et al. (2018), equation 4, written out."""
    similarity = x @ w.T @ y.T
    near_x, near_y = (np.sort(rows, axis=1)[:, -k:].mean() for rows in (similarity, similarity.T))
    return float(-2 * np.diag(similarity).mean() + near_x + near_y)


def test_the_gradient_of_rcsls_is_that_of_its_loss() -> None:
    rng = np.random.default_rng(2)
    x, y, w = rng.normal(size=(30, 4)), rng.normal(size=(30, 5)), rng.normal(size=(5, 4))
    loss, gradient = _rcsls_loss(w, x, y, neighbours=3, max_candidates=100)
    assert loss == pytest.approx(relaxed_loss(w, x, y, 3))
    for place in np.ndindex(*w.shape):
        step = np.zeros_like(w)
        step[place] = 1e-6
        up, down = (relaxed_loss(w + sign * step, x, y, 3) for sign in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / 2e-6, abs=1e-5)


def bent_spaces() -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of two spaces that are not rotations of each other."""
    rng = np.random.default_rng(7)
    dim, n = 20, 600
    x = rng.normal(size=(n, dim))
    bent = np.diag(np.linspace(0.2, 1.8, dim)) @ rotation(dim, dim, 8)
    y = x @ bent.T + 0.8 * rng.normal(size=(n, dim))
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
    return x, y


def test_rcsls_retrieves_better_than_procrustes() -> None:
    x, y = bent_spaces()

    def margin(w: np.ndarray) -> float:
        """Margin in CSLS of the correct answer over the mean of the wrong ones."""
        mapped = x[400:] @ w.T
        mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
        score = np.vstack(list(csls(mapped, y[400:])))
        return float(np.diag(score).mean() - score.mean())

    relaxed = rcsls(x[:400], y[:400])
    assert margin(relaxed) > margin(orthogonal(moments(x[:400], y[:400])))
    assert np.linalg.norm(relaxed, 2) <= 1 + 1e-6


def test_rcsls_takes_smaller_steps_when_the_loss_rises() -> None:
    """A rate that is far too large at first ends with as low a loss as a cautious one."""
    x, y = bent_spaces()
    start = relaxed_loss(orthogonal(moments(x, y)), x, y, 10)
    losses = [relaxed_loss(rcsls(x, y, rate=rate, iterations=16), x, y, 10) for rate in (10, 100)]
    assert losses[1] < start - 0.9 * (start - losses[0])
