"""Vectors on disk: every sentence encoded once, read back without being loaded (DESIGN 2).

A store is a folder: `vectors.f16` (a bare [words, dim] array), `offsets.npy` (where each sentence
begins) and `store.json`. It is built under another name and takes its place when it is whole; an
interrupted build goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.cache import alone, cache_folder, keeping
from treebridge.encode.encoder import Encoder, Words
from treebridge.writing import reserve, write_file

FORMAT = 1
STEP = 2048  # sentences between two notes of progress
Half = NDArray[np.float16]


class VectorStore:
    """The vectors of a list of sentences, memory-mapped: `store[i]` is [words, dim] in fp16."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.offsets: NDArray[np.int64] = np.load(folder / "offsets.npy")
        words, dim = int(self.offsets[-1]), _read_note(folder)["dim"]
        shape = (words, dim)
        self.vectors: Half = (
            np.memmap(folder / "vectors.f16", np.float16, "r", shape=shape)
            if words
            else np.zeros(shape, np.float16)
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Half:
        return self.vectors[self.offsets[index] : self.offsets[index + 1]]

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def batch(self, indices: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of several sentences, padded with zeros: [batch, longest, dim]."""
        parts = [self[index] for index in indices]
        longest = max(map(len, parts), default=0)
        out = np.zeros((len(parts), longest, self.dim), np.float32)
        for row, part in enumerate(parts):
            out[row, : len(part)] = part
        return out


def encode_into_store(
    encoder: Encoder,
    sentences: Sequence[Words],
    *,
    watch: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> VectorStore:
    """The store of these sentences: the one in the cache, or a new one."""
    key = store_key(encoder, sentences)
    folder = cache_folder("vectors") / key
    with alone(key):
        if not _is_whole(folder, key):
            shutil.rmtree(folder, ignore_errors=True)
            with keeping(folder.parent):
                _build(folder, key, encoder, sentences, watch)
    os.utime(folder)
    return VectorStore(folder)


def store_key(encoder: Encoder, sentences: Iterable[Words]) -> str:
    """A hash of all that decides the vectors: encoder weights, layers, precision and words."""
    digest = hashlib.sha256(f"{FORMAT} {encoder.cache_key}".encode())
    for words in sentences:
        digest.update("\x00".join(words).encode("utf-8", "surrogatepass") + b"\x01")
    return digest.hexdigest()[:32]


def _build(
    folder: Path,
    key: str,
    encoder: Encoder,
    sentences: Sequence[Words],
    watch: Callable[[Iterable[Any]], Iterable[Any]],
) -> None:
    building = folder.with_name(f"{key}.part")
    offsets = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(words) for words in sentences], out=offsets[1:])
    total = int(offsets[-1])
    note = {
        "format": FORMAT,
        "key": key,
        "dim": encoder.dim,
        "encoder": encoder.name,
        "words": total,
    }
    path = building / "vectors.f16"
    size = 2 * total * encoder.dim
    progress = building / "done"
    done = int(progress.read_text()) if progress.exists() and path.stat().st_size == size else 0
    if not done:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        np.save(building / "offsets.npy", offsets)
        write_file(building / "store.json", json.dumps(note))
    reserve(path, size)
    if total:
        vectors = np.memmap(path, np.float16, "r+", shape=(total, encoder.dim))
        encoded = encoder.encode(sentences[i] for i in range(done, len(sentences)))
        for index, item in enumerate(watch(encoded), done):
            vectors[offsets[index] : offsets[index + 1]] = item.vectors
            if (index + 1) % STEP == 0:
                vectors.flush()
                write_file(progress, str(index + 1))
        vectors.flush()
        del vectors
    progress.unlink(missing_ok=True)
    building.replace(folder)


def _read_note(folder: Path) -> dict[str, Any]:
    note: dict[str, Any] = json.loads((folder / "store.json").read_text())
    return note


def _is_whole(folder: Path, key: str) -> bool:
    """Whether the folder is a store of this key; a damaged or foreign one is made anew."""
    try:
        note = _read_note(folder)
        offsets = np.load(folder / "offsets.npy", allow_pickle=False)
        size = (folder / "vectors.f16").stat().st_size
        words = int(offsets[-1])
        return bool(
            note["format"] == FORMAT
            and note["key"] == key
            and note["words"] == words
            and size == 2 * words * note["dim"]
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return False
