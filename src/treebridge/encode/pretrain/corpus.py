"""Text as pieces on disk, cut once and then read as often as training needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from treebridge.corpus.chunks import take
from treebridge.corpus.download import checksum
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.text import read_side
from treebridge.encode.pretrain.vocabulary import inside_words, train_vocabulary
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress
from treebridge.writing import write_file

CHUNK, CHUNK_CHARACTERS = 4096, 1 << 24  # lines that are cut together
HELD_OUT, MOST_HELD_OUT = 100, 400  # one stretch in so many, and how many at most
FILES = ("tokenizer.json", "pieces.bin", "starts.npy")
VERSION = 2  # of what is kept; 1 had a vocabulary of its own in each run


@dataclass(frozen=True)
class Corpus:
    """Stretches of text, a sentence each where lines are sentences, as pieces one after another."""

    tokenizer: Tokenizer
    pieces: NDArray[np.unsignedinteger]  # of all stretches, no special ones among them
    starts: NDArray[np.int64]  # where each begins; one more than there are stretches
    key: str  # of the files and settings it was made from, and of the vocabulary

    def train(self) -> NDArray[np.int64]:
        """The numbers of the stretches to learn from."""
        return np.setdiff1d(np.arange(len(self.starts) - 1), self.held_out())

    def held_out(self) -> NDArray[np.int64]:
        """Those that are kept back, to see what was learnt."""
        return np.arange(HELD_OUT - 1, len(self.starts) - 1, HELD_OUT)[:MOST_HELD_OUT]

    def inside(self) -> NDArray[np.bool_]:
        """Which pieces of the vocabulary do not begin a word."""
        return inside_words(self.tokenizer)


def make_corpus(
    files: list[str],
    side: str | None,
    settings: PretrainSettings,
    folder: Path,
    progress: Progress = QUIET,
) -> Corpus:
    """Learn a vocabulary, cut the text into pieces, and keep both; or find them made before."""
    key = _key(files, side, settings)
    if (made := _about(folder)) and made["key"] == key:
        progress.say(f"text found in pieces: {made['pieces']:,}")
        return read_corpus(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.json").unlink(missing_ok=True)
    progress.say("learning a vocabulary")
    tokenizer = train_vocabulary(
        lambda: progress.count(read_side(files, side), "lines read"),
        settings.vocabulary,
        cased=settings.cased,
    )
    progress.say(f"cutting the text into pieces, {tokenizer.get_vocab_size():,} different ones")
    lines = progress.count(read_side(files, side), "lines read")
    total = _write(lines, tokenizer, settings.length - 2, folder)
    write_file(folder / "tokenizer.json", tokenizer.to_str(pretty=True))
    about = {"key": key, "pieces": total, "files": {n: checksum(folder / n) for n in FILES}}
    write_file(folder / "corpus.json", json.dumps(about) + "\n")
    return read_corpus(folder)


def read_corpus(folder: Path) -> Corpus:
    """The corpus that `make_corpus` wrote."""
    starts = np.load(folder / "starts.npy")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    dtype = _dtype(tokenizer)
    pieces = np.memmap(folder / "pieces.bin", dtype, "r", shape=(int(starts[-1]),))
    about = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    corpus = Corpus(tokenizer, pieces, starts, f"{about['key']} {about['files']['tokenizer.json']}")
    if not len(corpus.held_out()):
        raise TreebridgeError(
            f"there are only {len(starts) - 1} lines of text; pre-training needs thousands"
        )
    return corpus


def _about(folder: Path) -> dict[str, Any] | None:
    """What stands in corpus.json, if the other files are still those that it speaks of."""
    try:
        about: dict[str, Any] = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
        whole = all(about["files"][name] == checksum(folder / name) for name in FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return about if whole else None


def _write(lines: Iterable[str], tokenizer: Tokenizer, longest: int, folder: Path) -> int:
    """Write pieces as they come; a line that does not fit into a row becomes several stretches."""
    dtype = _dtype(tokenizer)
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
    np.save(folder / "starts.npy", np.unique(np.concatenate(starts)))  # empty lines fall away
    return total


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    lines = iter(lines)
    while chunk := take(lines, CHUNK, CHUNK_CHARACTERS):
        yield chunk


def _dtype(tokenizer: Tokenizer) -> type[np.unsignedinteger]:
    return np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.uint32


def _key(files: list[str], side: str | None, settings: PretrainSettings) -> str:
    """Files are known by name, size and time, so that gigabytes need not be read to be found."""
    known = []
    for file in files:
        if not Path(file).is_file():
            raise TreebridgeError("no such file; pre-training reads its text twice", file=file)
        status = Path(file).stat()
        known.append([str(Path(file).absolute()), status.st_size, status.st_mtime_ns])
    content = [VERSION, known, side, settings.vocabulary, settings.cased, settings.length]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
