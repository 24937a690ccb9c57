"""Vectors on disk: every sentence is encoded once and then memory-mapped.

A store is a folder: `vectors.f16` (a bare [words, dim] array), `offsets.npy` (where each sentence
begins) and `store.json`, with checksums. It is built under another name and renamed when complete;
an interrupted build is resumed, a damaged store is rebuilt.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence, Sized
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treebridge.checksums import find_damage, note_files, sealed
from treebridge.encode.cache import alone, cache_folder, keeping
from treebridge.encode.encoder import Encoder, Words
from treebridge.errors import TreebridgeError, warn_damaged
from treebridge.keys import key_of_bytes
from treebridge.progress import QUIET, Progress
from treebridge.records import read_record
from treebridge.writing import reserve, write_file

FORMAT = 1
NOTE, VECTORS, OFFSETS = "store.json", "vectors.f16", "offsets.npy"
STEP = 2048  # sentences between two records of progress
Half = NDArray[np.float16]


class VectorStore:
    """The vectors of a list of sentences, memory-mapped: `store[i]` is [words, dim] in fp16."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.offsets: NDArray[np.int64] = np.load(folder / OFFSETS)
        words, dim = int(self.offsets[-1]), read_record(folder / NOTE)["dim"]
        shape = (words, dim)
        self.vectors: Half = (
            np.memmap(folder / VECTORS, np.float16, "r", shape=shape)
            if words
            else np.zeros(shape, np.float16)
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Half:
        return self.vectors[self.offsets[index] : self.offsets[index + 1]]

    @property
    def key(self) -> str:
        """A hash of the encoder and the words."""
        return self.folder.name

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


class MemoryStore:
    """The vectors of a few sentences in memory, for an encoder that changes."""

    def __init__(self, vectors: Sequence[NDArray[np.float32]]):
        self._vectors = vectors
        self.offsets = _offsets(vectors)

    @property
    def key(self) -> str:
        """A hash of the vectors."""
        return key_of_bytes(rows.tobytes() for rows in self._vectors)

    def __getitem__(self, index: int) -> NDArray[np.float32]:
        return self._vectors[index]


def encode_into_store(
    encoder: Encoder,
    sentences: Sequence[Words],
    *,
    progress: Progress = QUIET,
) -> VectorStore:
    """Return the vector store of these sentences, from the cache or newly built."""
    key = store_key(encoder, sentences)
    folder = cache_folder("vectors") / key
    with alone(key):
        if folder.exists() and (damage := _find_damage(folder, key, encoder, sentences)):
            warn_damaged(folder, damage)
            shutil.rmtree(folder)
        if not folder.exists():
            with keeping(folder.parent):
                _build(folder, key, encoder, sentences, progress)
    os.utime(folder)
    return VectorStore(folder)


def store_key(encoder: Encoder, sentences: Iterable[Words]) -> str:
    """Hash everything that determines the vectors: encoder weights, layers, precision and words."""
    texts = ("\x00".join(words).encode("utf-8", "surrogatepass") + b"\x01" for words in sentences)
    return key_of_bytes(chain([f"{FORMAT} {encoder.cache_key}".encode()], texts))


def _build(
    folder: Path,
    key: str,
    encoder: Encoder,
    sentences: Sequence[Words],
    progress: Progress,
) -> None:
    building = folder.with_name(f"{key}.part")
    offsets = _offsets(sentences)
    total = int(offsets[-1])
    note = {
        "format": FORMAT,
        "key": key,
        "dim": encoder.dim,
        "encoder": encoder.name,
        "words": total,
    }
    path = building / VECTORS
    size = 2 * total * encoder.dim
    noted = building / "done"
    done = _done(noted, len(sentences)) if path.exists() and path.stat().st_size == size else 0
    if not done:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        write_file(building / NOTE, json.dumps(note))
    reserve(path, size)
    if total:
        vectors = np.memmap(path, np.float16, "r+", shape=(total, encoder.dim))
        encoded = encoder.encode(sentences[i] for i in range(done, len(sentences)))
        for index, item in enumerate(progress.count(encoded, "sentences encoded"), done):
            vectors[offsets[index] : offsets[index + 1]] = item.vectors
            if (index + 1) % STEP == 0:
                vectors.flush()
                write_file(noted, str(index + 1))
        vectors.flush()
        del vectors
    np.save(building / OFFSETS, offsets)
    note["files"] = note_files(building, [VECTORS, OFFSETS])
    (building / NOTE).write_text(json.dumps(sealed(note)), encoding="utf-8")
    noted.unlink(missing_ok=True)
    building.replace(folder)


def _offsets(sentences: Sequence[Sized]) -> NDArray[np.int64]:
    offsets = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(words) for words in sentences], out=offsets[1:])
    return offsets


def _done(path: Path, most: int) -> int:
    """Number of sentences that an interrupted build has written; 0 if its record is invalid."""
    try:
        done = int(path.read_text())
    except (OSError, ValueError):
        return 0
    return done if 0 <= done <= most else 0


def _find_damage(
    folder: Path, key: str, encoder: Encoder, sentences: Sequence[Words]
) -> str | None:
    """Explain why this cannot be the store of these sentences; None if it can.

    Stores written before checksums were introduced are checked by size.
    """
    try:
        note = read_record(folder / NOTE)
    except TreebridgeError as error:
        return f"{NOTE}: {error.problem}"
    if (note.get("format"), note.get("key"), note.get("dim")) != (FORMAT, key, encoder.dim):
        return f"{NOTE} belongs to another store"
    if damage := find_damage(folder, note.get("files", {})):
        return damage
    expected = _offsets(sentences)
    try:
        offsets = np.load(folder / OFFSETS, allow_pickle=False)
        size = (folder / VECTORS).stat().st_size
    except Exception:  # numpy parses headers with Python's tokenizer and raises its errors
        return f"{OFFSETS} or {VECTORS} cannot be read"
    if not np.array_equal(offsets, expected) or offsets.dtype != expected.dtype:
        return f"{OFFSETS} belongs to other sentences"
    if size != 2 * int(expected[-1]) * encoder.dim:
        return f"{VECTORS} has {size:,} bytes"
    return None
