"""Static word vectors as an encoder: one vector per word type, whatever its context.

Reads fastText and word2vec text (`.vec`), GloVe text, word2vec and fastText binaries (`.bin`),
plain or compressed (fastText binaries only plain, because they are memory-mapped).
"""

from __future__ import annotations

import shutil
import struct
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treebridge.checksums import file_blocks, sha256_of
from treebridge.encode.encoder import Encoded, Encoder, Vectors, Words
from treebridge.encode.fasttext import MAGIC, FastTextFile
from treebridge.encode.vectors import read_vectors
from treebridge.errors import TreebridgeError

MAX_TABLE = 6 << 30  # bytes; the largest published ones take 3.6 GB


class StaticEncoder(Encoder):
    """Vectors from a file; an unknown word falls back to lower case, then to its n-grams.

    `words` limits the vectors kept in memory to these words (and their lower case).
    """

    def __init__(self, path: Path, words: Iterable[str] | None = None):
        self.name = str(path)
        self.path = path
        self._needed = None if words is None else {w for x in words for w in (x, x.lower())}
        self._fasttext: FastTextFile | None = None
        self._index: dict[str, int] = {}
        self._fingerprint: str | None = None
        self.missing = 0  # words without a vector so far
        with path.open("rb") as stream:
            is_fasttext = stream.read(4) == struct.pack("<i", MAGIC)
        if is_fasttext:
            self._fasttext = FastTextFile(path)
            self._vectors = np.zeros((0, self._fasttext.dim), np.float32)
        else:
            self._read()
        self.dim = self._vectors.shape[1]

    @property
    def fingerprint(self) -> str:
        """A hash of the file."""
        if self._fingerprint is None:
            self._fingerprint = sha256_of(chain([b"static"], file_blocks(self.path)))
        return self._fingerprint

    def save(self, folder: Path) -> None:
        """Copy the file into a new folder."""
        folder.mkdir(parents=True)
        shutil.copyfile(self.path, folder / self.path.name)

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Which words have their own vector, possibly in lower case."""
        return np.array([self._row(word) is not None for word in words], dtype=bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Look up every word; words without a vector get zeros and are counted in a warning."""
        before = self.missing
        for words in sentences:
            vectors = np.zeros((len(words), self.dim), np.float32)
            for index, word in enumerate(words):
                vector = self.vector(word)
                if vector is None:
                    self.missing += 1
                else:
                    vectors[index] = vector
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            yield Encoded(vectors / np.maximum(lengths, 1e-12), self.whole(words))
        if self.missing > before:
            warnings.warn(
                f"{self.missing - before:,} words have no vector in {self.name}; they got zeros",
                stacklevel=2,
            )

    def _row(self, word: str) -> int | None:
        table = self._fasttext.words if self._fasttext else self._index
        row = table.get(word)
        return table.get(word.lower()) if row is None else row

    def vector(self, word: str) -> Vectors | None:
        """The vector of a word as it stands in the file; None if it has none."""
        row = self._row(word)
        if self._fasttext:
            known = word if word in self._fasttext.words else word.lower()
            return self._fasttext.vector(word if row is None else known)
        return None if row is None else self._vectors[row]

    def _read(self) -> None:
        """Read the vectors of the words that are needed; the first of duplicates counts."""
        table = bytearray()  # grows in place: a list of rows would need twice the memory
        dim = 1
        for word, vector in read_vectors(self.path):
            dim = len(vector)
            if word not in self._index and (self._needed is None or word in self._needed):
                if not np.isfinite(vector).all():
                    raise TreebridgeError(
                        f"the vector of {word[:40]!r} has values that are not finite; "
                        "the file is damaged",
                        file=self.path,
                    )
                self._index[word] = len(self._index)
                table += vector.tobytes()
                if len(table) > MAX_TABLE:
                    raise TreebridgeError(
                        f"the vectors take more than {MAX_TABLE >> 30} GB of memory; "
                        "keep only the first, most frequent words and correct the header",
                        file=self.path,
                    )
        if not table:
            raise TreebridgeError("found no word vectors in this file", file=self.path)
        self._vectors = np.frombuffer(table, np.float32).reshape(-1, dim)
