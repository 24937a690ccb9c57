"""Readers of word vectors: text of fastText, word2vec and GloVe, and word2vec binaries."""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from treebridge.corpus.files import open_bytes
from treebridge.encode.encoder import Vectors
from treebridge.encode.fasttext import MAGIC
from treebridge.errors import TreebridgeError

MAX_DIM = 1 << 14
MAX_LINE = 1 << 20  # bytes; 300 numbers take about 3,000
MAX_WORD = 1 << 12  # bytes
# Also with a decimal comma, which is refused later: it shows that the file is text.
_NUMBER = re.compile(rb"[-+]?(?:[0-9.,]+(?:e[-+]?[0-9]+)?|nan|inf)", re.IGNORECASE)
_COUNT = re.compile(rb"[0-9]{1,18}")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")

Row = tuple[str, Vectors]


def read_vectors(path: Path) -> Iterator[Row]:
    """Yield words and vectors of one length from a file, plain or compressed."""
    with open_bytes(path) as stream:
        if stream.peek(4)[:4] == struct.pack("<i", MAGIC):
            raise TreebridgeError(
                "this is a compressed fastText binary; unpack it first", file=path
            )
        first = stream.readline(MAX_LINE)
        header = first.split()
        if len(header) != 2 or not all(_COUNT.fullmatch(number) for number in header):
            # GloVe has no header: the first line is already a word.
            yield from _Rows(path, stream, len(header) - 1).of_text(first)
            return
        words, dim = int(header[0]), int(header[1])
        if not 1 <= dim <= MAX_DIM:
            raise TreebridgeError(
                f"the header announces {dim} dimensions; expected 1 to {MAX_DIM:,}",
                file=path,
                line=1,
            )
        rows = _Rows(path, stream, dim)
        found = 0
        for row in rows.of_binary(words) if _is_binary(stream.peek(1 << 16)) else rows.of_text():
            found += 1
            if found > words:
                break
            yield row
        if found != words:
            actual = "more" if found > words else f"{found:,}"
            raise TreebridgeError(
                f"the header announces {words:,} words of {dim} dimensions, the file has {actual}; "
                "download the file again, or correct its first line",
                file=path,
            )


def _is_binary(data: bytes) -> bool:
    """Whether the first word is followed by raw floats rather than decimal numbers."""
    line, end, _ = data.partition(b"\n")
    fields = line.split()[1:] if end else line.split()[1:-1]
    if sum(_NUMBER.fullmatch(field) is not None for field in fields) > len(fields) / 2:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return True
    return _CONTROL.search(data) is not None


@dataclass
class _Rows:
    path: Path
    stream: BinaryIO
    dim: int

    def of_text(self, first: bytes = b"") -> Iterator[Row]:
        """Read lines of a word and its numbers; `first` is a line that was already read."""
        number = 1 if first else 2
        line = first or self.stream.readline(MAX_LINE)
        checked = False
        while line:
            if line.strip():
                if not checked:
                    self._check_width(line, number)
                    checked = True
                yield self._row(line, number)
            line, number = self.stream.readline(MAX_LINE), number + 1

    def _check_width(self, line: bytes, number: int) -> None:
        """Refuse extra numbers in the first row, which would become part of its word."""
        extra = line.split()[1 : -self.dim]
        if extra and all(_NUMBER.fullmatch(field) for field in extra):
            raise TreebridgeError(
                f"the header announces {self.dim} numbers, found {self.dim + len(extra)}",
                file=self.path,
                line=number,
            )

    def _row(self, line: bytes, number: int) -> Row:
        # From the right: a few vocabularies have words with spaces.
        word, *fields = line.decode("utf-8", "replace").rstrip().rsplit(" ", max(self.dim, 0))
        try:
            with np.errstate(over="ignore"):  # infinity, which is refused later
                vector = np.array(fields, np.float32)
        except ValueError:
            vector = np.zeros(0, np.float32)
        if len(vector) != self.dim or self.dim < 1 or len(word) > MAX_WORD:
            comma = any("," in field for field in fields)
            hint = (
                "use a decimal point, not a comma" if comma else "is this a file of word vectors?"
            )
            raise TreebridgeError(
                f"expected a word and {self.dim} numbers; {hint}", file=self.path, line=number
            )
        return word, vector

    def of_binary(self, words: int) -> Iterator[Row]:
        """Read words and their raw floats; fewer than `words` if the file is truncated."""
        read = self.stream.read
        for _ in range(words):
            word = bytearray()
            while (char := read(1)) not in (b" ", b""):
                word += char
                if len(word) > MAX_WORD:
                    raise TreebridgeError(
                        f"a word of more than {MAX_WORD:,} bytes; header and data do not match",
                        file=self.path,
                    )
            data = read(4 * self.dim)
            if len(data) < 4 * self.dim:
                return
            vector = np.frombuffer(data, "<f4").astype(np.float32)
            yield word.decode("utf-8", "replace").lstrip("\n"), vector
        if read(2).strip():
            yield "", np.zeros(self.dim, np.float32)  # one too many
