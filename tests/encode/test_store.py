"""The store: encoded once, whole or not at all, and nothing in memory."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from treebridge.encode import store as store_module
from treebridge.encode.cache import cache_entries
from treebridge.encode.encoder import Encoded, Encoder, Words
from treebridge.encode.store import VectorStore, encode_into_store, store_key
from treebridge.errors import DamagedCache

SENTENCES = [[f"w{i}.{j}" for j in range(i % 7)] for i in range(100)]


class Counting(Encoder):
    """Vectors made from the letters of a word; counts what it was asked to encode."""

    name = "counting"
    dim = 8
    fingerprint = "one"

    def __init__(self) -> None:
        self.encoded = 0
        self.stop_after = 10**9

    def whole(self, words: Words):
        return np.ones(len(words), bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        for words in sentences:
            if self.encoded == self.stop_after:
                raise KeyboardInterrupt
            self.encoded += 1
            rows = [np.frombuffer(f"{word:<8}"[:8].encode(), np.uint8) / 256 for word in words]
            vectors = np.array(rows, np.float32).reshape(len(words), 8)
            yield Encoded(vectors, self.whole(words))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path))
    monkeypatch.setattr(store_module, "STEP", 10)
    return tmp_path


def check(store: VectorStore) -> None:
    assert len(store) == 100 and store.dim == 8
    for words, encoded in zip(SENTENCES, Counting().encode(SENTENCES), strict=True):
        index = SENTENCES.index(words) if words else 0
        if words:
            np.testing.assert_array_equal(store[index], encoded.vectors.astype(np.float16))


def test_encoded_once() -> None:
    encoder = Counting()
    check(encode_into_store(encoder, SENTENCES))
    check(encode_into_store(encoder, SENTENCES))
    assert encoder.encoded == 100
    encode_into_store(encoder, SENTENCES[:50])
    assert encoder.encoded == 150


def test_key_depends_on_encoder_and_text() -> None:
    first, second = Counting(), Counting()
    second.fingerprint = "two"  # type: ignore[misc]
    keys = {
        store_key(first, [["a", "b"], ["c"]]),
        store_key(second, [["a", "b"], ["c"]]),
        store_key(first, [["a"], ["b", "c"]]),
        store_key(first, [["a", "b", "c"]]),
        store_key(first, [["ab"], ["c"]]),
    }
    assert len(keys) == 5


def test_interrupted_and_continued() -> None:
    encoder = Counting()
    encoder.stop_after = 57
    with pytest.raises(KeyboardInterrupt):
        encode_into_store(encoder, SENTENCES)
    encoder.stop_after = 10**9
    check(encode_into_store(encoder, SENTENCES))
    assert encoder.encoded == 57 + 50  # the last note of progress was at 50


def test_damaged_or_foreign_stores_are_made_anew(cache: Path) -> None:
    encoder = Counting()
    folder = encode_into_store(encoder, SENTENCES).folder
    damages = [
        lambda: (folder / "vectors.f16").write_bytes(b"short"),
        lambda: (folder / "offsets.npy").write_bytes(b"foreign"),
        lambda: (folder / "store.json").write_text('{"format": 99}'),
        lambda: (folder / "store.json").unlink(),
    ]
    for count, damage in enumerate(damages, 2):
        damage()
        with pytest.warns(DamagedCache, match="rebuilding it"):
            check(encode_into_store(encoder, SENTENCES))
        assert encoder.encoded == 100 * count


def test_padded_batches() -> None:
    store = encode_into_store(Counting(), SENTENCES)
    batch = store.batch([3, 6, 1])
    assert batch.shape == (3, 6, 8) and batch.dtype == np.float32
    np.testing.assert_array_equal(batch[0, :3], store[3])
    assert not batch[0, 3:].any() and not batch[2, 1:].any()
    assert encode_into_store(Counting(), []).batch([]).shape == (0, 0, 8)


def test_opening_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wide(Counting):
        dim = 256

        def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
            for words in sentences:
                yield Encoded(np.zeros((len(words), 256), np.float32), self.whole(words))

    sentences = [["w"] * 20] * 10_000
    folder = encode_into_store(Wide(), sentences).folder
    tracemalloc.start()
    store = VectorStore(folder)
    assert store[9_999].shape == (20, 256)
    assert tracemalloc.get_traced_memory()[1] < 500_000  # 100 MB on disk
    tracemalloc.stop()


def test_cache_command(run: Run, cache: Path) -> None:
    assert "is empty" in run("cache", "list").stdout
    encode_into_store(Counting(), SENTENCES)
    listed = run("cache", "list")
    assert listed.returncode == 0 and "vectors" in listed.stdout and "counting" in listed.stdout
    assert "freed" in run("cache", "clear").stdout
    assert "is empty" in run("cache", "list").stdout


def test_killed_in_the_middle_and_continued(cache: Path) -> None:
    """kill -9 at any point: the next run ends in the same bytes."""
    code = """
import os, sys
sys.path[:0] = [{tests!r}, {encode!r}]
import test_store as t
from treebridge.encode import store as s
s.STEP = 10
class Dying(t.Counting):
    def encode(self, sentences):
        for n, item in enumerate(super().encode(sentences)):
            if n == {after}:
                os.kill(os.getpid(), 9)
            yield item
s.encode_into_store(Dying(), t.SENTENCES)
"""
    here = Path(__file__).resolve()
    for after in (5, 23, 31, 99):
        script = code.format(tests=str(here.parents[1]), encode=str(here.parent), after=after)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
    check(encode_into_store(Counting(), SENTENCES))
    assert json.loads(next((cache / "vectors").glob("*/store.json")).read_text())["words"] == sum(
        map(len, SENTENCES)
    )


def test_two_at_once_encode_once(cache: Path) -> None:
    """flock tells file objects apart, so two threads stand for two processes."""
    began = threading.Event()

    class Waits(Counting):
        def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
            began.set()
            time.sleep(0.2)
            return super().encode(sentences)

    makes, waits = Waits(), Counting()
    first = threading.Thread(target=encode_into_store, args=(makes, SENTENCES))
    first.start()
    assert began.wait(10)
    check(encode_into_store(waits, SENTENCES))
    first.join()
    assert (makes.encoded, waits.encoded) == (100, 0)
    assert [entry.kind for entry in cache_entries()] == ["vectors"]
