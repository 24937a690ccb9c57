"""Pieces are written atomically, and every failure is one sentence. No Ray needed."""

from __future__ import annotations

import pickle
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from treebridge.bridge import kmeans
from treebridge.bridge.senses import Shard
from treebridge.cluster.crew import shard_name
from treebridge.cluster.storage import Storage, name_of
from treebridge.errors import TreebridgeError

PIECE = {"rows": np.arange(5), "target": np.ones((5, 400), np.float16)}


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_written_read_and_removed(tmp_path: Path, scheme: str) -> None:
    storage = pickle.loads(
        pickle.dumps(Storage(f"{scheme}{tmp_path}/deep/er"))
    )  # as workers receive it
    storage.check()
    assert not storage.has("a")
    storage.write("a", PIECE)
    storage.write("ab", PIECE)
    (tmp_path / "deep" / "er" / "a.safetensors.0123.new").write_text("begun by a worker that died")
    assert storage.has("a")
    found = storage.read("a")
    assert all((found[key] == PIECE[key]).all() and found[key].dtype == PIECE[key].dtype
               for key in PIECE)  # fmt: skip
    storage.remove(["a"])
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == ["ab.safetensors"]


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path / "s"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(TreebridgeError, match=r"cannot be written: .*use another storage"):
            storage.write("a", PIECE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not storage.has("a") and not list((tmp_path / "s").iterdir())


def test_unusable_storage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TreebridgeError, match="cannot be written"):
        Storage(str(tmp_path / "file" / "in")).check()
    with pytest.raises(TreebridgeError, match="nowhere://a: cannot use this storage"):
        Storage("nowhere://a")
    with pytest.raises(TreebridgeError, match="a folder that all machines share"):
        Storage(str(tmp_path)).read("a")
    (tmp_path / "cut.safetensors").write_bytes(b"12345678half")
    with pytest.raises(
        TreebridgeError, match=r"a piece cannot be read .*; remove it and run again"
    ):
        Storage(str(tmp_path)).read("cut")


def test_names_distinguish_pieces() -> None:
    vectors = np.arange(6, dtype=np.float16).reshape(2, 3)
    names = {
        name_of([1, ["a"]], vectors),
        name_of([1, ["b"]], vectors),
        name_of([1, ["a"]], vectors + 1),
        name_of([2, ["a"]], vectors),
    }
    assert len(names) == 4 and name_of([1, ["a"]], vectors.copy()) in names


def test_names_of_shards_cover_everything_that_determines_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shard = Shard([[2, 1]], [[7, 8]], np.ones((3, 4), np.float16), 7)
    other = {
        "sizes": [[1, 2]],
        "seeds": [[7, 9]],
        "vectors": np.zeros((3, 4), np.float16),
        "most": 2,
    }
    assert set(other) == set(Shard._fields)
    names = {shard_name(shard), *(shard_name(shard._replace(**{k: v})) for k, v in other.items())}
    monkeypatch.setattr(kmeans, "VERSION", kmeans.VERSION + 1)
    names.add(shard_name(shard))
    assert len(names) == len(other) + 2


def test_without_ray(here: Run, home: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "text.txt").write_text("a b\n")
    done = here("parse", "--model", home / "model", "text.txt", "--engine", "ray")
    assert done.returncode == 2
    assert (
        "working on a cluster needs Ray, which is not installed: pip install 'treebridge[ray]'"
        in done.stderr
    )


def test_no_cluster_at_the_address(here: Run, home: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "text.txt").write_text("a b\n")
    there = ["--engine", "ray", "--ray-address", "127.0.0.1:1"]
    done = here("parse", "--model", home / "model", "text.txt", *there)
    assert done.returncode == 2
    assert "cannot reach a Ray cluster at 127.0.0.1:1" in done.stderr
