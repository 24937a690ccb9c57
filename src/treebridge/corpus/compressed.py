"""Compressed input, decompressed while it is read; errors name the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from treebridge.errors import TreebridgeError, first_line

BUFFER = 1 << 16
MAX_DICTIONARY = 512 << 20  # bytes; xz -9 needs 65 MB to decompress, a hostile header asks for 4 GB
# Raised by the decompression libraries for truncated, damaged or mislabelled files.
_DAMAGE = (
    EOFError,
    OSError,
    RuntimeError,  # including NotImplementedError
    ValueError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)


class Unpacked(io.BufferedReader):
    """A decompressed binary stream; error messages use its `name`."""


def unpack(raw: BinaryIO, name: str) -> Unpacked:
    """Decompress a stream if its first bytes show that it is compressed.

    File names are not used: they may be wrong, and standard input has none.
    """
    plain = Unpacked(_Guarded(raw, name), BUFFER)
    head = plain.peek(16)[:16]
    for magic, opener in _OPENERS.items():
        if re.match(magic, head):
            return Unpacked(_Guarded(opener(plain), name), BUFFER)
    for magic, problem in _REFUSED.items():
        if head.startswith(magic):
            raise TreebridgeError(problem, file=name)
    return plain


@contextmanager
def open_zip(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive."""
    with _damage_named(str(path)):
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


def open_member(archive: zipfile.ZipFile, member: str) -> Unpacked:
    """Open one file of a zip archive; error messages name both."""
    name = f"{archive.filename}/{member}"
    if archive.getinfo(member).flag_bits & 1:
        raise TreebridgeError("encrypted; unpack the archive with its password first", file=name)
    with _damage_named(name):
        raw: Any = archive.open(member)
    return unpack(raw, name)


class _Guarded(io.RawIOBase):
    """Wraps a stream and turns the exceptions of its library into user errors."""

    def __init__(self, stream: Any, name: str):
        self.name = name
        # read1 returns what a pipe has so far.
        self._read: Callable[[int], bytes]
        self._read = stream.read1 if hasattr(stream, "read1") else stream.read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _damage_named(self.name):
            data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    try:
        yield
    except TreebridgeError:
        raise
    except _DAMAGE as error:
        if "limit exceeded" in str(error):
            problem = f"decompressing it takes more than {MAX_DICTIONARY >> 20} MB of memory; "
            raise TreebridgeError(problem + "compress it with: xz -9", file=name) from None
        raise TreebridgeError(
            f"the file is damaged or truncated ({first_line(error)}); copy or download it again",
            file=name,
        ) from None


class _Streams:
    """Decompress one or more concatenated streams.

    Unlike `lzma.LZMAFile` and `bz2.BZ2File` it allows decompressors with a memory limit, and does
    not silently ignore garbage after the first stream.
    """

    def __init__(self, packed: BinaryIO, new: Callable[[], Any]):
        self._packed = packed
        self._new = new
        self._decompressor = new()

    def read1(self, size: int) -> bytes:
        while True:
            data = b""
            if self._decompressor.eof:
                data = self._decompressor.unused_data or self._packed.read(BUFFER)
                while data and not data.strip(b"\x00"):  # streams may be padded
                    data = self._packed.read(BUFFER)
                if not data:
                    return b""
                data = data.lstrip(b"\x00")
                self._decompressor = self._new()
            elif self._decompressor.needs_input:
                data = self._packed.read(BUFFER)
                if not data:
                    raise EOFError("unexpected end of compressed data")
            unpacked: bytes = self._decompressor.decompress(data, size)
            if unpacked:
                return unpacked


def _new_xz() -> Any:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_DICTIONARY)


_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    rb"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    # Including the signature of the first block or of the footer: a text may begin with BZh.
    rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)": lambda raw: _Streams(raw, bz2.BZ2Decompressor),
    rb"\xfd7zXZ\x00": lambda raw: _Streams(raw, _new_xz),
}
_REFUSED = {
    b"PK\x03\x04": "this zip archive cannot be read here; unpack it, "
    "or download it again if it is damaged",
    b"\x28\xb5\x2f\xfd": "this is compressed with Zstandard; unpack it with: zstd -d",
}
