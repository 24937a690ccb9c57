"""Large tables of columns in 8 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treebridge.errors import TreebridgeError
from treebridge.parse.columns.packed import SCALE, packed, unpacked

FILE = Path("columns.safetensors")


def test_large_tables_come_back_nearly_the_same_and_half_as_large() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.uniform(0.01, 9, 200)  # columns of very different size
    large = (rng.normal(size=(1000, 200)) * sizes).astype(np.float32)
    small = rng.normal(size=(20, 5)).astype(np.float32)
    stored = packed({"large": large, "small": small})
    assert stored["large"].dtype == np.int8 and stored["small"].dtype == np.float16
    found = unpacked(stored, FILE)
    assert set(found) == {"large", "small"}
    assert (np.abs(found["large"] - large) <= np.abs(large).max(0) / 250).all()
    np.testing.assert_allclose(found["small"], small, rtol=1e-3)


def test_scales_that_do_not_fit_are_refused() -> None:
    stored = packed({"large": np.ones((1000, 200), np.float32)})
    stored["large" + SCALE] = np.ones(7, np.float32)
    with pytest.raises(TreebridgeError, match=r"columns.* the scales of large do not fit"):
        unpacked(stored, FILE)
