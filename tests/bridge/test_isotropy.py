"""Iterative normalization: known properties; rows are independent of each other."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge import Bitext, TreebridgeError
from treebridge.bridge import isotropy as module
from treebridge.bridge.isotropy import Isotropy, anisotropy


def cone(n: int, dim: int, seed: int = 0, push: float = 3.0) -> np.ndarray:
    """Unit vectors that all point roughly the same way."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, dim)) + push * rng.normal(size=dim)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@given(st.integers(50, 400), st.integers(3, 40), st.integers(0, 99), st.floats(0, 6))
def test_properties(n: int, dim: int, seed: int, push: float) -> None:
    vectors = cone(n, dim, seed, push)
    fitted = Isotropy.fit(vectors, iterations=30)
    out = fitted.transform(vectors)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1, atol=1e-5)  # unit length
    assert np.linalg.norm(out.mean(0)) < 0.02  # mean zero at convergence
    some = np.arange(0, n, 7)
    np.testing.assert_allclose(fitted.transform(vectors[some]), out[some], atol=1e-6)


def test_against_the_obvious_loop() -> None:
    vectors = cone(500, 20)
    x = vectors.astype(np.float64)
    for _ in range(5):
        x = x - x.mean(0)
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
    np.testing.assert_allclose(Isotropy.fit(vectors).transform(vectors), x, atol=1e-6)


def test_streaming_gives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    vectors = cone(1000, 16).astype(np.float16)
    whole = Isotropy.fit(vectors).means
    vectors.tofile(tmp_path / "v.f16")
    monkeypatch.setattr(module, "BLOCK", 64)
    mapped = np.memmap(tmp_path / "v.f16", np.float16, "r", shape=vectors.shape)
    np.testing.assert_allclose(Isotropy.fit(mapped).means, whole, atol=1e-12)


def test_pages_of_a_memory_map_are_released_block_by_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cone(200, 16).tofile(tmp_path / "v.f32")
    mapped = np.memmap(tmp_path / "v.f32", np.float32, "r", shape=(200, 16))
    released: list[np.ndarray] = []
    monkeypatch.setattr(module, "release", released.append)
    monkeypatch.setattr(module, "BLOCK", 64)
    Isotropy.fit(mapped, iterations=3)
    assert len(released) == 3 * 4 and all(array is mapped for array in released)


def test_anisotropy_falls_at_once() -> None:
    vectors = cone(3000, 64, push=2.0)
    before = anisotropy(vectors)
    cosine = vectors[:300] @ vectors[:300].T
    assert before == pytest.approx((cosine.sum() - 300) / (300 * 299), abs=0.02) and before > 0.5
    for iterations in (1, 2):
        out = Isotropy.fit(vectors, iterations).transform(vectors)
        assert abs(anisotropy(out)) < 0.01


def test_awkward_inputs() -> None:
    zeros, same = np.zeros((5, 4), np.float32), np.ones((5, 4), np.float32)
    assert np.isfinite(Isotropy.fit(zeros).transform(zeros)).all()
    assert np.isfinite(Isotropy.fit(same).transform(same)).all()
    assert Isotropy.none(4).transform(same).tolist() == same.tolist()
    assert np.isnan(anisotropy(same[:1]))
    with pytest.raises(TreebridgeError, match="at least one vector"):
        Isotropy.fit(np.zeros((0, 4)))
    with pytest.raises(TreebridgeError, match="not finite"):
        Isotropy.fit(np.full((3, 4), np.nan))


def test_real_encoders(shared: Path) -> None:
    from treebridge.encode.encoder import Encoder

    encoder = Encoder.load(shared / "encoders/pt-marian-tiny")
    pairs = islice(Bitext.read(shared / "data/bitext/en-pt.tsv.xz"), 300)
    vectors = np.concatenate([e.vectors for e in encoder.encode(pair.target for pair in pairs)])
    assert anisotropy(vectors) > 0.3
    assert abs(anisotropy(Isotropy.fit(vectors, 2).transform(vectors))) < 0.01
