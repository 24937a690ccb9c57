"""The binary files of fastText: words and their character n-grams, mapped into memory."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from treebridge.encode.encoder import Vectors
from treebridge.errors import TreebridgeError

MAGIC = 793712314
_VERSIONS = (11, 12)


class FastTextFile:
    """A `.bin` model; `vector` gives what fastText's own get_word_vector gives."""

    def __init__(self, path: Path):
        self.words: dict[str, int] = {}
        with path.open("rb") as stream:

            def read(form: str) -> tuple[int, ...]:
                data = stream.read(struct.calcsize(f"<{form}"))
                return struct.unpack(f"<{form}", data)

            try:
                _, version = read("ii")
                if version not in _VERSIONS:
                    raise TreebridgeError(f"fastText format {version} is not known", file=path)
                arguments = read("12i")
                read("d")
                self.dim, self.buckets, self.shortest, self.longest = (
                    arguments[0], arguments[8], arguments[9], arguments[10],
                )  # fmt: skip
                size, n_words, _, _, pruned = read("iiiqq")
                for row in range(size):
                    word = bytearray()
                    while (char := stream.read(1)) != b"\x00":
                        if not char:
                            raise struct.error
                        word += char
                    read("qb")
                    if row < n_words:
                        self.words[word.decode("utf-8", "replace")] = row
                stream.seek(8 * max(pruned, 0), 1)
                (quantised,) = read("?")
                if quantised:
                    raise TreebridgeError(
                        "quantised fastText models (.ftz) are not read", file=path
                    )
                rows, columns = read("qq")
            except (struct.error, UnicodeDecodeError):
                raise TreebridgeError(
                    "the fastText file is cut short; fetch it again", file=path
                ) from None
            start = stream.tell()
        if path.stat().st_size < start + 4 * rows * columns:
            raise TreebridgeError("the fastText file is cut short; fetch it again", file=path)
        self._n_words = n_words
        self._matrix = np.memmap(path, "<f4", "r", offset=start, shape=(rows, columns))

    def vector(self, word: str) -> Vectors | None:
        """The mean of the word's own row and those of its n-grams; None where there is neither."""
        rows = [self.words[word]] if word in self.words else []
        rows += [self._n_words + bucket for bucket in self._ngrams(f"<{word}>")]
        return np.asarray(self._matrix[rows]).mean(0).astype(np.float32) if rows else None

    def _ngrams(self, marked: str) -> list[int]:
        """The buckets of all n-grams; the edge marks by themselves are none."""
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
    """32-bit FNV-1a over bytes taken as signed, as fastText does."""
    value = 2166136261
    for byte in text.encode("utf-8"):
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = (value * 16777619) & 0xFFFFFFFF
    return value
