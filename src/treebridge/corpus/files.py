"""Text files: read plain, compressed or from standard input, and written atomically."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO

from treebridge.corpus.compressed import Unpacked, unpack
from treebridge.errors import TreebridgeError
from treebridge.writing import replacing

CHUNK = 1 << 20
# Bytes. Documents on a single line are shorter, so a longer line is another kind of file or a
# decompression bomb: 60 kB of xz can hold gigabytes. At least CHUNK, see `read_text`.
MAX_LINE = 1 << 20
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Source = str | Path | BinaryIO


def name_of(source: Source) -> str:
    """Name of an input in error messages."""
    if isinstance(source, str | Path):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<stream>"))


@contextmanager
def open_bytes(source: Source) -> Iterator[Unpacked]:
    """Open a path, `-` or a binary stream for reading, decompressed according to its content."""
    if isinstance(source, Unpacked):
        yield source
    elif not isinstance(source, str | Path):
        yield unpack(source, name_of(source))
    elif str(source) == "-":
        yield unpack(sys.stdin.buffer, name_of(source))
    else:
        with _open_path(Path(source)) as raw:
            yield unpack(raw, name_of(source))


def _open_path(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise TreebridgeError("this is a folder; choose a file inside it", file=path)
        return path.open("rb")
    except FileNotFoundError:
        raise TreebridgeError("file not found", file=path) from None
    except OSError as error:
        raise TreebridgeError(f"cannot be opened: {error.strerror}", file=path) from None


def read_text(source: Source, *, cut_long: bool = False) -> Iterator[tuple[int, str]]:
    """Yield (first line number, text) in pieces of whole lines: UTF-8, `\\n`, no BOM.

    A line of more than MAX_LINE bytes is refused or, with `cut_long`, split into several pieces.
    """
    name, line = name_of(source), 1
    pending: list[bytes] = []  # a line whose end has not been read yet
    size = 0
    with open_bytes(source) as stream:
        for chunk in chain(_chunks(stream, name), [b""]):
            pending.append(chunk)
            size += len(chunk)
            if chunk and b"\n" not in chunk and size <= MAX_LINE:
                continue
            data = b"".join(pending)
            # Only the first line began before this chunk, so only it can be too long.
            while len(data) > MAX_LINE and data.find(b"\n", 0, MAX_LINE + 1) < 0:
                if not cut_long:
                    raise TreebridgeError(
                        f"the line has more than {MAX_LINE:,} bytes; is this a text file?",
                        file=name,
                        line=line,
                    )
                cut = _place_to_cut(data)
                yield line, _decode(data[:cut], name, line)
                data = data[cut:]
            whole = data.rfind(b"\n") + 1 if chunk else len(data)
            if whole:
                text = _decode(data[:whole], name, line)
                yield line, text
                line += text.count("\n")
            pending, size = [data[whole:]], len(data) - whole


def _place_to_cut(data: bytes) -> int:
    """Where to cut a line that is too long: after its last space, else between characters."""
    cut = data.rfind(b" ", MAX_LINE // 2, MAX_LINE) + 1
    if cut:
        return cut
    cut = MAX_LINE
    while cut > MAX_LINE - 4 and data[cut] & 0xC0 == 0x80:  # a byte inside a character
        cut -= 1
    return cut


def _chunks(stream: Unpacked, name: str) -> Iterator[bytes]:
    chunk = stream.read1(CHUNK)
    if chunk.startswith(_UTF16):
        raise TreebridgeError(
            "this is UTF-16, not UTF-8; convert it with: iconv -f utf-16 -t utf-8",
            file=name,
            line=1,
        )
    yield chunk.removeprefix(codecs.BOM_UTF8)
    while chunk := stream.read1(CHUNK):
        yield chunk


def _decode(data: bytes, name: str, line: int) -> str:
    nul = data.find(b"\x00")
    if nul >= 0:
        raise TreebridgeError(
            "NUL byte: this is a binary file, or UTF-16 without a byte order mark; "
            "remove stray NUL bytes with: tr -d '\\000'",
            file=name,
            line=line + data.count(b"\n", 0, nul),
        )
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


def read_lines(source: Source, *, cut_long: bool = False) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without line break); `cut_long` as in `read_text`."""
    for number, text in read_text(source, cut_long=cut_long):
        # Not splitlines(), which also splits at U+2028, form feeds and others.
        lines = text.removesuffix("\n").split("\n")
        yield from enumerate(lines, number)


@contextmanager
def write_text(path: str | Path) -> Iterator[TextIO]:
    """Yield a UTF-8 stream; its content replaces `path` when the block succeeds."""
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
