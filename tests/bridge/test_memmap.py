"""Passes over a memory map leave no pages in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from treebridge.bridge.isotropy import Isotropy, anisotropy
from treebridge.bridge.memmap import pick, release
from treebridge.bridge.senses import anchors, sense_labels

ROWS, DIM = 1 << 14, 512  # 16 MB
STATUS = Path("/proc/self/status")
OFFSETS = np.linspace(0, ROWS, 65).astype(np.int64)
LABELS = np.zeros(ROWS, np.int8)


def mapped() -> int:
    """Bytes of mapped files resident in this process."""
    lines = STATUS.read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssFile:")))


@pytest.fixture
def vectors(tmp_path: Path) -> np.memmap:
    if not STATUS.exists():
        pytest.skip("no /proc here")
    values = np.random.default_rng(0).normal(size=(ROWS, DIM)).astype(np.float16)
    (tmp_path / "vectors").write_bytes(values.tobytes())
    return np.memmap(tmp_path / "vectors", np.float16, "r+", shape=(ROWS, DIM))


def test_released_pages_are_read_again(vectors: np.memmap) -> None:
    start = mapped()
    vectors[5] = 7
    total = vectors.sum(dtype=np.float64)
    assert mapped() - start > 0.9 * vectors.nbytes
    vectors.flush()
    release(vectors)
    assert mapped() - start < 0.1 * vectors.nbytes
    assert (vectors[5] == 7).all() and vectors.sum(dtype=np.float64) == total
    release(np.zeros(3))


@pytest.mark.parametrize(
    "walk",
    [
        lambda x: Isotropy.fit(x, iterations=1),
        lambda x: anchors(x, x, OFFSETS, LABELS),
        lambda x: sense_labels(x, OFFSETS[:3], ["a", "b"]),
        lambda x: anisotropy(x),
    ],
    ids=["isotropy", "anchors", "senses", "anisotropy"],
)
def test_passes_leave_no_pages(vectors: np.memmap, walk: Callable[[np.memmap], object]) -> None:
    walk(vectors)  # imported modules are mapped files too
    start = mapped()
    walk(vectors)
    assert mapped() - start < 0.1 * vectors.nbytes


def test_pick_equals_indexing(tmp_path: Path) -> None:
    array = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.float16, (3000, 4))
    array[:] = np.random.default_rng(1).normal(size=array.shape)
    rows = np.sort(np.random.default_rng(2).choice(3000, 700, replace=False))
    assert (pick(array, rows) == array[rows]).all()
