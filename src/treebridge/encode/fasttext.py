"""fastText's binary files: words and their character n-grams, memory-mapped."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from treebridge.encode.encoder import MAX_LETTERS, Vectors
from treebridge.errors import TreebridgeError

MAGIC = 793712314
MAX_DIM = 1 << 14
MAX_NGRAM = 100  # characters; fastText's default is 6
MAX_BYTES = 1 << 12  # of a word
_VERSIONS = (11, 12)


class _Unlikely(Exception):
    """A value that no valid fastText file has."""


def _check(likely: bool, what: str) -> None:
    if not likely:
        raise _Unlikely(what)


class FastTextFile:
    """A `.bin` model; `vector` returns the same as fastText's get_word_vector."""

    def __init__(self, path: Path):
        self.path = path
        try:
            with path.open("rb") as stream:
                rows, columns = self._read(stream, path.stat().st_size)
                start = stream.tell()
        except _Unlikely as error:
            raise TreebridgeError(
                f"the fastText file is damaged or truncated ({error}); download it again",
                file=path,
            ) from None
        self._matrix = np.memmap(path, "<f4", "r", offset=start, shape=(rows, columns))

    def _read(self, stream: BinaryIO, size: int) -> tuple[int, int]:
        """Read and check everything before the matrix; return the shape of the matrix."""

        def read(form: str) -> tuple[int, ...]:
            data = stream.read(struct.calcsize(f"<{form}"))
            _check(len(data) == struct.calcsize(f"<{form}"), "unexpected end of file")
            return struct.unpack(f"<{form}", data)

        _, version = read("ii")
        if version not in _VERSIONS:
            message = f"fastText format {version} is not supported; expected 11 or 12"
            raise TreebridgeError(message, file=self.path)
        self.dim, *_, self.buckets, self.shortest, self.longest, _ = read("12i")
        read("d")
        entries, self._n_words, labels, _, pruned = read("iiiqq")
        _check(1 <= self.dim <= MAX_DIM, f"{self.dim} dimensions")
        _check(self.buckets >= 0, f"{self.buckets} buckets")
        _check(
            0 <= self.shortest <= self.longest <= MAX_NGRAM,
            f"n-grams of {self.shortest} to {self.longest} characters",
        )
        _check(
            self._n_words >= 0 and labels >= 0 and entries == self._n_words + labels,
            f"{self._n_words} words and {labels} labels in a list of {entries}",
        )
        self.words = self._read_words(stream, entries)
        _check(-1 <= pruned <= size // 8, f"{pruned} pruned n-grams")
        stream.seek(8 * max(pruned, 0), 1)
        (quantised,) = read("B")
        if quantised:
            message = "quantized fastText models are not supported; use the original .bin file"
            raise TreebridgeError(message, file=self.path)
        rows, columns = read("qq")
        expected = (self._n_words + self.buckets, self.dim)
        _check((rows, columns) == expected, f"a matrix of {rows} × {columns}")
        _check(stream.tell() + 4 * rows * columns <= size, "incomplete matrix")
        return rows, columns

    def _read_words(self, stream: BinaryIO, entries: int) -> dict[str, int]:
        """Read word → row; checking every entry detects a wrong number of entries early."""
        words: dict[str, int] = {}
        for row in range(entries):
            word = bytearray()
            while (char := stream.read(1)) not in (b"\x00", b""):
                word += char
                _check(len(word) <= MAX_BYTES, f"a word of more than {MAX_BYTES} bytes")
            rest = stream.read(9)  # its count, and whether it is a label
            intact = bool(word) and len(rest) == 9 and rest[8] <= 1
            _check(intact, f"entry {row + 1} is not a word")
            if row < self._n_words:
                words[word.decode("utf-8", "replace")] = row
        return words

    def vector(self, word: str) -> Vectors | None:
        """Mean of the word's own row and those of its n-grams; None if it has neither."""
        rows = [self.words[word]] if word in self.words else []
        rows += [self._n_words + bucket for bucket in self._ngrams(f"<{word[:MAX_LETTERS]}>")]
        return np.asarray(self._matrix[rows]).mean(0).astype(np.float32) if rows else None

    def _ngrams(self, marked: str) -> list[int]:
        """Buckets of all n-grams except the boundary marks alone."""
        if not self.buckets or not self.longest:
            return []
        found = []
        for start in range(len(marked)):
            for length in range(self.shortest, self.longest + 1):
                if start + length > len(marked):
                    break
                if length == 1 and (start == 0 or start + 1 == len(marked)):
                    continue
                found.append(_hash(marked[start : start + length]) % self.buckets)
        return found


def _hash(text: str) -> int:
    """32-bit FNV-1a over signed bytes, as in fastText."""
    value = 2166136261
    for byte in text.encode("utf-8"):
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = (value * 16777619) & 0xFFFFFFFF
    return value
