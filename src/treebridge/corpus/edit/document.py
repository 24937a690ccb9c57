"""A CoNLL-U file that is edited in place: saved after every change, with undo.

Sentences that are not edited keep every byte: line ends, blank lines, a byte order mark.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.sentence import Sentence
from treebridge.errors import NotWritable, TreebridgeError
from treebridge.keys import key_of_bytes
from treebridge.writing import real_place, replacing

BACKUP = ".bak"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_BLANK = re.compile(r"[ \t]*\r?\n?")


class Changed(TreebridgeError):
    """Another program changed the file."""


@dataclass(frozen=True)
class Block:
    """A sentence as it stands in the file, with the blank lines after it."""

    body: str
    after: str
    sentence: Sentence


@dataclass(frozen=True)
class Change:
    """Blocks that replaced others."""

    start: int
    old: tuple[Block, ...]
    new: tuple[Block, ...]


class Document:
    """The sentences of a file; every change is saved and can be undone.

    `version` is a hash of the file, so that it stays the same when a server starts again.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.reload()

    @classmethod
    def open(cls, path: str | Path) -> Document:
        """Read a file, check that it can be edited, and keep a copy of it beside it (`.bak`)."""
        document = cls(path)
        if not document.numbers:
            raise TreebridgeError("the file has no sentences", file=path)
        place = real_place(path)
        if not place.stat().st_mode & 0o222 or not os.access(place, os.W_OK):
            raise NotWritable("the file is read-only; make it writable or copy it", file=path)
        _write(place.with_name(place.name + BACKUP), document._saved, place)
        return document

    def reload(self) -> None:
        """Read the file again; nothing can be undone afterwards."""
        data = _read(self.path)
        sentences = list(read_conllu(_Named(data, self.path)))
        self._saved, self._stamp = data, _stamp(self.path)
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        self._begin, bodies = _blocks(text)
        self._begin = "\ufeff" * data.startswith(codecs.BOM_UTF8) + self._begin
        self.blocks = [
            Block(body, after, sentence)
            for (body, after), sentence in zip(bodies, sentences, strict=True)
        ]
        self._undo: list[Change] = []
        self._redo: list[Change] = []
        self._moved()

    def _moved(self) -> None:
        # Comments without words are kept, but are no sentences to edit.
        self.numbers = [at for at, block in enumerate(self.blocks) if len(block.sentence)]
        self.version = key_of_bytes([self._saved])

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Sentence]:
        return (self.blocks[at].sentence for at in self.numbers)

    def __getitem__(self, number: int) -> Sentence:
        return self.blocks[self.numbers[number]].sentence

    def replace(self, number: int, count: int, sentences: Sequence[Sentence]) -> None:
        """Replace sentences by others and save the file."""
        start = self.numbers[number]
        end = self.numbers[number + count - 1] + 1
        if end - start != count:
            raise TreebridgeError("there are comments between these sentences; remove them first")
        old = tuple(self.blocks[start:end])
        new = _rewritten(old, sentences)
        self._commit(Change(start, old, new))
        self._undo.append(Change(start, old, new))
        self._redo.clear()

    def amend(self, number: int, sentence: Sentence) -> None:
        """Replace a sentence and save; undone together with the change before."""
        self.replace(number, 1, [sentence])
        last = self._undo.pop()
        if self._undo and (first := self._undo[-1]).start <= last.start:
            at = last.start - first.start
            if at < len(first.new):
                new = (*first.new[:at], *last.new, *first.new[at + 1 :])
                self._undo[-1] = Change(first.start, first.old, new)
                return
        self._undo.append(last)

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return bool(self._redo)

    def undo(self) -> int:
        """Take back the last change, save the file, and return the number of its sentence."""
        return self._revert(self._undo, self._redo, "undo")

    def redo(self) -> int:
        """Make the last change again that was undone."""
        return self._revert(self._redo, self._undo, "redo")

    def _revert(self, source: list[Change], target: list[Change], what: str) -> int:
        if not source:
            raise TreebridgeError(f"there is nothing to {what}")
        change = source[-1]
        back = Change(change.start, change.new, change.old)
        self._commit(back)
        source.pop()
        target.append(back)
        return sum(at < change.start for at in self.numbers)

    def _commit(self, change: Change) -> None:
        """Save the file with a change; on an error neither the file nor this object changes."""
        blocks = list(self.blocks)
        blocks[change.start : change.start + len(change.old)] = change.new
        data = (self._begin + "".join(b.body + b.after for b in blocks)).encode("utf-8")
        if _stamp(self.path) != self._stamp and _read(self.path) != self._saved:
            raise Changed("another program changed the file; reload it", file=self.path)
        place = real_place(self.path)
        _write(place, data, place)
        self._saved, self._stamp = data, _stamp(self.path)
        self.blocks = blocks
        self._moved()


class _Named(io.BytesIO):
    """Bytes of a file, with its name for messages."""

    def __init__(self, data: bytes, path: Path):
        super().__init__(data)
        self.name = str(path)


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise TreebridgeError("this is a folder; choose a file inside it", file=path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TreebridgeError("file not found", file=path) from None
    except OSError as error:
        raise TreebridgeError(f"cannot be opened: {error.strerror}", file=path) from None
    if data.startswith(_PACKED):
        raise TreebridgeError("the file is compressed; unpack it first", file=path)
    return data


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when another program writes the file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _write(place: Path, data: bytes, like: Path) -> None:
    """Write a file atomically and to the disk, with the permissions of another."""
    mode = stat.S_IMODE(like.stat().st_mode)
    with replacing(place, mode) as new, new.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _blocks(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Split a text into what stands before the first block, and blocks with their blank lines."""
    begin, blocks = "", []
    body, after = "", ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        if _BLANK.fullmatch(line):
            if body:
                after += line
            else:
                begin += line
        else:
            if after:
                blocks.append((body, after))
                body, after = "", ""
            body += line
    return begin, [*blocks, (body, after)] if body else blocks


def _rewritten(old: Sequence[Block], sentences: Sequence[Sentence]) -> tuple[Block, ...]:
    """Blocks for new sentences, with the line ends of the old ones."""
    end = "\r\n" if "\r\n" in old[0].body else "\n"
    blocks = []
    for number, sentence in enumerate(sentences, 1):
        body = sentence.to_conllu().removesuffix("\n").replace("\n", end)
        after = (old[-1].after or end) if number == len(sentences) else end
        blocks.append(Block(body, after, sentence))
    return tuple(blocks)
