"""The translation of a map: fitted on centred rows, saved with the bridge, absent in old ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_mapping import moments, rotation

from treebridge.artefact import read_config, read_tensors, write_config, write_tensors
from treebridge.bridge.bridge import FORMAT, KIND, TENSORS, Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.mapping import affine
from treebridge.bridge.space import Space


@given(st.integers(2, 10), st.integers(0, 1000), st.booleans())
def test_a_rotation_with_a_translation_is_recovered(dim: int, seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, dim)) + 3 * rng.normal(size=dim)
    true, shift = rotation(dim, dim, seed), rng.normal(size=dim)
    weights = rng.uniform(0.1, 5, 200) if weighted else None
    for kind in ("procrustes", "least-squares"):
        w, b = affine(moments(x, x @ true.T + shift, weights), kind, translation=True)
        np.testing.assert_allclose(w, true, atol=1e-4)
        np.testing.assert_allclose(x @ w.T + b, x @ true.T + shift, atol=1e-3)


@given(st.integers(0, 1000))
def test_least_squares_with_a_translation_is_a_regression_with_intercept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, weights = rng.normal(size=(60, 4)) + 1, rng.normal(size=(60, 3)), rng.uniform(0.5, 2, 60)
    w, b = affine(moments(x, y, weights), "least-squares", translation=True)
    root = np.sqrt(weights)[:, None]
    best = np.linalg.lstsq(root * np.c_[x, np.ones(60)], root * y, rcond=None)[0]
    np.testing.assert_allclose(np.vstack([w.T, b]), best, atol=1e-4)


def test_without_a_translation_rows_are_not_centred() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 3)) + 2, rng.normal(size=(50, 3)) - 2
    w, b = affine(moments(x, y), "least-squares", translation=False)
    np.testing.assert_allclose(w.T, np.linalg.lstsq(x, y, rcond=None)[0], atol=1e-4)
    assert not b.any()


def space(name: str, dim: int) -> Space:
    return Space(name, f"print of {name}", "last4", dim, Isotropy.none(dim))


@pytest.fixture
def bridge() -> Bridge:
    rng = np.random.default_rng(2)
    return Bridge(space("pt", 4), space("en", 3), rng.normal(size=(3, 4)),
                  translation=rng.normal(size=3))  # fmt: skip


def test_the_translation_is_applied_after_the_map(bridge: Bridge) -> None:
    x = np.random.default_rng(3).normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_allclose(
        bridge.transform(x), x @ bridge.w.T + bridge.translation, rtol=1e-5, atol=1e-6
    )
    plain = Bridge(bridge.target, bridge.into, bridge.w)
    np.testing.assert_allclose(plain.transform(x), x @ bridge.w.T, rtol=1e-5, atol=1e-6)


def test_the_translation_is_saved(bridge: Bridge, tmp_path: Path) -> None:
    bridge.save(tmp_path / "en-pt")
    np.testing.assert_array_equal(Bridge.load(tmp_path / "en-pt").translation, bridge.translation)


def test_a_bridge_of_format_1_has_none(bridge: Bridge, tmp_path: Path) -> None:
    """Bridges made before there were translations go on loading."""
    folder = tmp_path / "old"
    bridge.save(folder)
    tensors = read_tensors(folder / TENSORS)
    del tensors["translation"]
    write_tensors(folder / TENSORS, tensors)
    config = read_config(folder, KIND, FORMAT)
    parts = {name: config[name] for name in ("target", "into", "made", "quality")}
    write_config(folder, KIND, 1, parts, [TENSORS])
    old = Bridge.load(folder)
    np.testing.assert_array_equal(old.translation, np.zeros(3))
    np.testing.assert_array_equal(old.w, bridge.w)
