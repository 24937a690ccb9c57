"""Static word vectors as an encoder: one vector per word type, whatever its context.

Reads fastText and word2vec text (`.vec`), GloVe text, word2vec and fastText binaries (`.bin`),
plain or compressed (fastText's binary, which is mapped rather than read, only plain).
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from treebridge.checksums import add_file
from treebridge.corpus.files import open_bytes
from treebridge.encode.encoder import Encoded, Encoder, Vectors, Words
from treebridge.encode.fasttext import MAGIC, FastTextFile
from treebridge.errors import TreebridgeError


class StaticEncoder(Encoder):
    """Vectors from a file; a word without one falls back to lower case, then to its n-grams.

    `words` limits what is kept in memory to the words needed (and their lower case).
    """

    def __init__(self, path: Path, words: Iterable[str] | None = None):
        self.name = str(path)
        self.path = path
        self._needed = None if words is None else {w for x in words for w in (x, x.lower())}
        self._fasttext: FastTextFile | None = None
        self._index: dict[str, int] = {}
        self._fingerprint: str | None = None
        self.missing = 0  # words that got zeros so far
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
            digest = hashlib.sha256(b"static")
            add_file(digest, self.path)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def save(self, folder: Path) -> None:
        """Copy the file, whole."""
        folder.mkdir(parents=True)
        shutil.copyfile(self.path, folder / self.path.name)

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Which words have a vector of their own, if need be in lower case."""
        return np.array([self._row(word) is not None for word in words], dtype=bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Look up every word; words without any vector are zeros, and counted in a warning."""
        before = self.missing
        for words in sentences:
            vectors = np.zeros((len(words), self.dim), np.float32)
            for index, word in enumerate(words):
                vector = self._vector(word)
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

    def _vector(self, word: str) -> Vectors | None:
        row = self._row(word)
        if self._fasttext:
            known = word if word in self._fasttext.words else word.lower()
            return self._fasttext.vector(word if row is None else known)
        return None if row is None else self._vectors[row]

    def _read(self) -> None:
        with open_bytes(self.path) as stream:
            first = stream.readline(1 << 20)
            header = first.split()
            rows: Iterator[tuple[str, Vectors]]
            if len(header) == 2 and all(part.isdigit() for part in header):
                dim = int(header[1])
                following = stream.peek(1 << 16)[: 1 << 16] if hasattr(stream, "peek") else b""
                binary = _looks_binary(following, dim)
                rows = (
                    _binary_rows(stream, int(header[0]), dim)
                    if binary
                    else self._text(stream, 2, dim)
                )
            else:  # GloVe has no header: the first line is a word already
                rows = self._text(stream, 1, len(header) - 1, first)
            kept = [(w, v) for w, v in rows if self._needed is None or w in self._needed]
        if not kept:
            raise TreebridgeError("no word vector was found in this file", file=self.path)
        self._index = {word: row for row, (word, _) in reversed(list(enumerate(kept)))}
        self._vectors = np.stack([vector for _, vector in kept])

    def _text(
        self, stream: Iterable[bytes], line: int, dim: int, first: bytes = b""
    ) -> Iterator[tuple[str, Vectors]]:
        for number, row in enumerate(chain([first] if first else [], stream), line):
            if row.strip():
                yield self._text_row(row, number, dim)

    def _text_row(self, row: bytes, line: int, dim: int) -> tuple[str, Vectors]:
        # From the right: a few vocabularies have words with spaces.
        parts = row.decode("utf-8", "replace").rstrip().rsplit(" ", dim)
        try:
            vector = np.array(parts[1:], np.float32)
        except ValueError:
            vector = np.zeros(0, np.float32)
        if len(vector) != dim or dim < 1:
            raise TreebridgeError(
                f"expected a word and {dim} numbers; is this a file of word vectors?",
                file=self.path,
                line=line,
            )
        return parts[0], vector


def _looks_binary(data: bytes, dim: int) -> bool:
    """Whether what follows the first word is raw floats rather than numbers on a line."""
    numbers = data.partition(b"\n")[0].split()[-dim:]
    try:
        return len([float(number) for number in numbers]) < dim
    except ValueError:
        return True


def _binary_rows(stream: BinaryIO, count: int, dim: int) -> Iterator[tuple[str, Vectors]]:
    """The word2vec binary: word, space, floats."""
    read = stream.read
    for _ in range(count):
        word = bytearray()
        while (char := read(1)) not in (b" ", b""):
            word += char
        data = read(4 * dim)
        if len(data) < 4 * dim:
            raise TreebridgeError("the file of word vectors is cut short; fetch it again")
        yield (
            word.decode("utf-8", "replace").lstrip("\n"),
            np.frombuffer(data, "<f4").astype(np.float32),
        )
