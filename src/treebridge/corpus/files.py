"""Files in and out: plain, compressed or standard input; whole or not at all."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from treebridge.errors import TreebridgeError
from treebridge.writing import replacing

CHUNK = 1 << 20
# Recognised by their first bytes, because names lie and standard input has none.
_OPENERS: dict[bytes, Callable[[BinaryIO], AbstractContextManager[object]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Source = str | Path | BinaryIO


def name_of(source: Source) -> str:
    """How messages name a source of input."""
    if isinstance(source, str | Path):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<stream>"))


@contextmanager
def open_bytes(source: Source) -> Iterator[BinaryIO]:
    """Open a path, `-` or a binary stream for reading, decompressed by what its first bytes say."""
    if not isinstance(source, str | Path):
        yield from _decompressed(source)
    elif str(source) == "-":
        yield from _decompressed(sys.stdin.buffer)
    else:
        with _open_path(Path(source)) as raw:
            yield from _decompressed(raw)


def _open_path(path: Path) -> BinaryIO:
    if path.is_dir():
        raise TreebridgeError("this is a folder; give a file inside it", file=path)
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise TreebridgeError("there is no such file", file=path) from None
    except OSError as error:
        raise TreebridgeError(f"cannot be opened: {error.strerror}", file=path) from None


def _decompressed(raw: BinaryIO) -> Iterator[BinaryIO]:
    head = raw.peek(8)[:8] if hasattr(raw, "peek") else b""
    for magic, opener in _OPENERS.items():
        if head.startswith(magic):
            with opener(raw) as stream:
                yield cast(BinaryIO, stream)
            return
    yield raw


def read_text(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (number of its first line, text) in pieces of whole lines: UTF-8, `\\n`, no BOM."""
    name, line = name_of(source), 1
    pending: list[bytes] = []  # a line whose end has not been read yet
    with open_bytes(source) as stream:
        for chunk in _chunks(stream, name):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                text = _decode(b"".join([*pending, chunk[:cut]]), name, line)
                yield line, text
                line += text.count("\n")
                pending = []
            if cut < len(chunk):
                pending.append(chunk[cut:])
        if pending:
            yield line, _decode(b"".join(pending), name, line)


def _chunks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    read = getattr(stream, "read1", stream.read)  # read1 hands on what a pipe has so far
    try:
        chunk = read(CHUNK)
        if chunk.startswith(_UTF16):
            raise TreebridgeError(
                "this is UTF-16, not UTF-8; convert it with: iconv -f utf-16 -t utf-8",
                file=name,
                line=1,
            )
        yield chunk.removeprefix(codecs.BOM_UTF8)
        while chunk := read(CHUNK):
            yield chunk
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise TreebridgeError(
            f"the file is damaged or cut short ({error}); copy or download it again", file=name
        ) from None


def _decode(data: bytes, name: str, line: int) -> str:
    try:
        return data.replace(b"\r\n", b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        bad = line + error.object[: error.start].count(b"\n")
        byte = error.object[error.start]
        raise TreebridgeError(
            f"byte 0x{byte:02x} is not UTF-8; if the file is Latin-1, convert it with: "
            "iconv -f latin1 -t utf-8",
            file=name,
            line=bad,
        ) from None


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without its end)."""
    for number, text in read_text(source):
        # Not splitlines(): U+2028, form feeds and their like are part of a line.
        lines = text.removesuffix("\n").split("\n")
        yield from enumerate(lines, number)


@contextmanager
def write_text(path: str | Path) -> Iterator[TextIO]:
    """Write UTF-8 to a temporary name; it takes its place only when the block ends well."""
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
