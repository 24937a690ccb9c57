"""The cache: ours is cleared, the user's is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Run
from treebridge.encode.cache import KINDS, MARK, cache_entries, cache_folder, clear_cache
from treebridge.errors import TreebridgeError

HASH = "0123456789abcdef" * 2


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path))
    return tmp_path


def test_only_what_we_wrote_is_cleared(cache: Path, here: Run) -> None:
    theirs = ["thesis/chapter1.tex", "links/bookmarks.html", "vectors.txt", f"senses/{HASH}/mine"]
    for name in theirs:
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_text("mine")
    (cache / "senses" / "diary").write_text("mine")
    for kind in KINDS:
        (cache_folder(kind) / f"{HASH}.safetensors").write_bytes(b"12345")
    (cache / "vectors" / f"{HASH}.part").mkdir()
    (cache / "vectors" / "diary").write_text("put there later")
    marked = {path.parent.name for path in cache.glob(f"*/{MARK}")}
    assert marked == set(KINDS) - {"links", "senses"}  # those held something before us
    listed = here("cache", "list").stdout
    assert "bookmarks" not in listed and "diary" not in listed and "thesis" not in listed
    assert len(cache_entries()) == len(KINDS) - 2 + 1
    assert clear_cache() == 5 * (len(KINDS) - 2) and not cache_entries()
    for name in [*theirs, "senses/diary", "vectors/diary"]:
        assert (cache / name).exists(), name
    assert "is empty" in here("cache", "list").stdout


def test_a_cache_of_an_older_version_is_adopted(cache: Path) -> None:
    for name in (
        f"links/{HASH}-12.safetensors",
        f"onnx/{HASH}{HASH}-int8.onnx",
        f"vectors/{HASH}/x",
    ):
        (cache / name).parent.mkdir(parents=True)
        (cache / name).write_bytes(b"1")
    assert not cache_entries()
    for kind in KINDS:
        cache_folder(kind)
    assert len(cache_entries()) == 3 and clear_cache() == 3


def test_a_cache_that_cannot_be_written(cache: Path) -> None:
    (cache / "links").write_text("a file")
    with pytest.raises(TreebridgeError, match=r"cannot be written: .*set TREEBRIDGE_CACHE"):
        cache_folder("links")
