"""Tokenized text on disk, written once and then read as often as training needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from treebridge.checksums import file_sha256, sha256_of
from treebridge.corpus.chunks import take
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.text import read_side
from treebridge.encode.pretrain.vocabulary import inside_words, train_vocabulary
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress
from treebridge.writing import write_file

CHUNK, CHUNK_CHARACTERS = 4096, 1 << 24  # lines that are tokenized together
HELD_OUT, MOST_HELD_OUT = 100, 400  # one segment in 100, at most 400
SAMPLE = 6_000_000  # pieces of text to count
FILES = ("tokenizer.json", "pieces.bin", "starts.npy")
VERSION = 2  # of these files; in version 1 every run learned another vocabulary


@dataclass(frozen=True)
class Corpus:
    """Segments of text (lines, or parts of long ones) as concatenated pieces."""

    tokenizer: Tokenizer
    pieces: NDArray[np.unsignedinteger]  # of all segments, without special ones
    starts: NDArray[np.int64]  # [segments + 1]: where each begins
    key: str  # of the files, the settings and the vocabulary
    whole: bool = False  # nothing is held out

    def train(self) -> NDArray[np.int64]:
        """Indices of the segments to train on."""
        return np.setdiff1d(np.arange(len(self.starts) - 1), self.held_out())

    def held_out(self) -> NDArray[np.int64]:
        """Indices of the held-out segments."""
        most = 0 if self.whole else MOST_HELD_OUT
        return np.arange(HELD_OUT - 1, len(self.starts) - 1, HELD_OUT)[:most]

    def inside(self) -> NDArray[np.bool_]:
        """Which pieces of the vocabulary do not begin a word."""
        return inside_words(self.tokenizer)

    def sample(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pieces from the whole text to count, and the segment of each."""
        train = self.train()
        sizes = np.diff(self.starts)[train]
        if sizes.sum() > SAMPLE:
            train = train[np.arange(len(train)) % int(np.ceil(sizes.sum() / SAMPLE)) == 0]
            sizes = np.diff(self.starts)[train]
        segment = np.repeat(np.arange(len(train)), sizes)
        firsts = np.repeat(self.starts[train] - (np.cumsum(sizes) - sizes), sizes)
        return np.asarray(self.pieces[np.arange(len(segment)) + firsts], np.int64), segment


def make_corpus(
    files: list[str],
    side: str | None,
    settings: PretrainSettings,
    folder: Path,
    progress: Progress = QUIET,
) -> Corpus:
    """Learn a vocabulary and tokenize the text into `folder`, or reuse an earlier result."""
    key = _key(files, side, settings)
    if (made := _about(folder)) and made["key"] == key:
        progress.say(f"reusing the tokenized text: {made['pieces']:,} pieces")
        return read_corpus(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.json").unlink(missing_ok=True)
    progress.say("learning a vocabulary")
    tokenizer = train_vocabulary(
        lambda: progress.count(read_side(files, side), "lines read"),
        settings.vocabulary,
        cased=settings.cased,
    )
    progress.say(f"tokenizing the text with a vocabulary of {tokenizer.get_vocab_size():,} pieces")
    lines = progress.count(read_side(files, side), "lines read")
    total = _write(lines, tokenizer, settings.length - 2, folder)
    write_file(folder / "tokenizer.json", tokenizer.to_str(pretty=True))
    about = {"key": key, "pieces": total, "files": {n: file_sha256(folder / n) for n in FILES}}
    write_file(folder / "corpus.json", json.dumps(about) + "\n")
    return read_corpus(folder)


def read_corpus(folder: Path) -> Corpus:
    """Read the corpus that `make_corpus` wrote."""
    starts = np.load(folder / "starts.npy")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    dtype = piece_type(tokenizer)
    pieces = np.memmap(folder / "pieces.bin", dtype, "r", shape=(int(starts[-1]),))
    about = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    corpus = Corpus(tokenizer, pieces, starts, f"{about['key']} {about['files']['tokenizer.json']}")
    if not len(corpus.held_out()):
        raise TreebridgeError(
            f"found only {len(starts) - 1} lines of text; pre-training needs thousands"
        )
    return corpus


def _about(folder: Path) -> dict[str, Any] | None:
    """Read corpus.json; None if it is missing or the other files do not match it."""
    try:
        about: dict[str, Any] = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
        intact = all(about["files"][name] == file_sha256(folder / name) for name in FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return about if intact else None


def _write(lines: Iterable[str], tokenizer: Tokenizer, longest: int, folder: Path) -> int:
    """Tokenize and write the text; a line that does not fit into a row becomes several segments."""
    dtype = piece_type(tokenizer)
    starts = [np.zeros(1, np.int64)]
    total = 0
    with (folder / "pieces.bin").open("wb") as stream:
        for chunk in _chunks(lines):
            cut = tokenizer.encode_batch_fast(chunk, add_special_tokens=False)
            ids = [encoding.ids for encoding in cut]
            flat = np.fromiter((piece for line in ids for piece in line), dtype)
            ends = total + np.cumsum([len(line) for line in ids])
            extra = [
                np.arange(end - len(line) + longest, end, longest)
                for end, line in zip(ends, ids, strict=True)
                if len(line) > longest
            ]
            starts.append(np.unique(np.concatenate([ends, *extra])))
            total += len(flat)
            stream.write(flat.tobytes())
    np.save(folder / "starts.npy", np.unique(np.concatenate(starts)))  # without empty lines
    return total


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    lines = iter(lines)
    while chunk := take(lines, CHUNK, CHUNK_CHARACTERS):
        yield chunk


def piece_type(tokenizer: Tokenizer) -> type[np.unsignedinteger]:
    """The smallest type that holds a piece."""
    return np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.uint32


def _key(files: list[str], side: str | None, settings: PretrainSettings) -> str:
    """Hash the settings and the files' names, sizes and times, without reading gigabytes."""
    known = []
    for file in files:
        if not Path(file).is_file():
            message = "expected a regular file, because pre-training reads its text twice"
            raise TreebridgeError(message, file=file)
        status = Path(file).stat()
        known.append([str(Path(file).absolute()), status.st_size, status.st_mtime_ns])
    content = [VERSION, known, side, settings.vocabulary, settings.cased, settings.length]
    return sha256_of([json.dumps(content).encode()])
