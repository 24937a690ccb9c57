"""Lessons from a teacher: an encoder of another language, across the links of a bitext.

The new encoder learns that an aligned word should have the vector which the teacher gives to its
translation, up to a linear map. Both spaces then describe words by the same properties, which is
what a bridge between them needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from treebridge.checksums import file_sha256
from treebridge.encode.encoder import Encoder, Vectors, Words
from treebridge.encode.pretrain.corpus import Corpus, piece_type
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress
from treebridge.writing import write_file

WEIGHT = 5.0  # of 1 − cosine, compared with the cross entropy of a masked piece
ABOUT, FILES = "lessons.json", ("lessons.npz", "lessons.bin")


class Taught(NamedTuple):
    """A sentence, its translation, and links (word of the translation, word of the sentence)."""

    words: Words
    translation: Words
    links: NDArray[np.int64]  # [links, 2]


@dataclass(frozen=True)
class Teaching:
    """A teacher and the sentences to learn from; `key` identifies both."""

    teacher: Encoder
    pairs: Callable[[], Iterable[Taught]]
    key: str


@dataclass(frozen=True)
class Lessons:
    """Sentences as pieces, and the teacher's vectors for the words that are aligned."""

    corpus: Corpus
    rows: NDArray[np.int64]  # [pieces]: row of `vectors` of the piece's word, −1 if not aligned
    vectors: NDArray[np.float16]  # [links, dim], a memory map
    mean: Vectors  # of the vectors

    @property
    def dim(self) -> int:
        """Dimensions of the teacher."""
        return int(self.vectors.shape[1])

    def wanted(self, rows: NDArray[np.int64]) -> Vectors:
        """Unit vectors, relative to the mean: a direction that all words share teaches nothing."""
        vectors = self.vectors[rows].astype(np.float32) - self.mean
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-6), np.float32)


def make_lessons(
    teaching: Teaching, corpus: Corpus, longest: int, folder: Path, progress: Progress = QUIET
) -> Lessons:
    """Encode the translations with the teacher, or reuse an earlier result in the folder.

    `corpus` has the vocabulary, and `longest` is the number of pieces that fit into a row.
    """
    tokenizer, key = corpus.tokenizer, f"{teaching.key} {corpus.key}"
    if _is_made(folder, key):
        return read_lessons(folder, tokenizer)
    (folder / ABOUT).unlink(missing_ok=True)
    progress.say("encoding the translations of aligned words with the teacher")
    pairs = [pair for pair in teaching.pairs() if len(pair.links)]
    cut = tokenizer.encode_batch(
        [list(pair.words) for pair in pairs], is_pretokenized=True, add_special_tokens=False
    )
    fitting = [i for i, encoding in enumerate(cut) if len(encoding.ids) <= longest]
    if not fitting:
        raise TreebridgeError("no aligned words to learn from; give more parallel text")
    pieces: list[int] = []
    rows: list[int] = []
    starts, first = [0], 0
    total = np.zeros(teaching.teacher.dim)
    encoded = teaching.teacher.encode(pairs[i].translation for i in fitting)
    with (folder / FILES[1]).open("wb") as stream:
        for i, translation in zip(fitting, progress.count(encoded, "sentences"), strict=True):
            links = pairs[i].links
            links = links[translation.vectors[links[:, 0]].any(1)]  # static vectors may be missing
            rows += _rows_of_pieces(cut[i].word_ids, links[:, 1], first)
            vectors = translation.vectors[links[:, 0]].astype(np.float16)
            stream.write(vectors.tobytes())
            total += vectors.astype(np.float64).sum(0)
            pieces += cut[i].ids
            starts.append(len(pieces))
            first += len(links)
    if not first:
        raise TreebridgeError(
            f"{teaching.teacher.name} has no vectors for the aligned words; choose another teacher"
        )
    dtype = piece_type(tokenizer)
    with (folder / FILES[0]).open("wb") as file:
        np.savez(
            file, pieces=np.array(pieces, dtype), starts=np.array(starts), rows=np.array(rows),
            mean=(total / first).astype(np.float32),
        )  # fmt: skip
    about = {"key": key, "files": {name: file_sha256(folder / name) for name in FILES}}
    write_file(folder / ABOUT, json.dumps(about) + "\n")
    return read_lessons(folder, tokenizer)


def read_lessons(folder: Path, tokenizer: Tokenizer) -> Lessons:
    """Read what `make_lessons` wrote."""
    with np.load(folder / FILES[0]) as kept:
        pieces, starts, rows, mean = (kept[name] for name in ("pieces", "starts", "rows", "mean"))
    key = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["key"]
    vectors = np.memmap(folder / FILES[1], np.float16, "r").reshape(-1, len(mean))
    return Lessons(Corpus(tokenizer, pieces, starts, key, whole=True), rows, vectors, mean)


def _is_made(folder: Path, key: str) -> bool:
    """Whether the folder holds these lessons, undamaged."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        return about["key"] == key and all(
            about["files"][name] == file_sha256(folder / name) for name in FILES
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _rows_of_pieces(
    owners: Sequence[int | None], linked: NDArray[np.int64], first: int
) -> list[int]:
    """The row of each piece's word; `linked` are the words with rows, in order from `first` on."""
    row = {int(word): first + n for n, word in enumerate(linked)}
    return [-1 if owner is None else row.get(owner, -1) for owner in owners]
