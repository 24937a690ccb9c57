"""From vectors on disk to batches of sentences of about the same length."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from treebridge.corpus.sentence import MAX_WORDS, Sentence
from treebridge.encode.store import VectorStore
from treebridge.errors import TreebridgeError
from treebridge.parse.biaffine import Batch
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names

Rows = NDArray[np.floating]
Indices = NDArray[np.int64]


def check_lengths(lengths: Iterable[int], before: int = 0) -> None:
    """Refuse a sentence that would take too much memory; `before` these there were so many.

    Its words are given, so it is not for us to split it; raw text never comes to this.
    """
    for number, length in enumerate(lengths, before + 1):
        if length > MAX_WORDS:
            raise TreebridgeError(
                f"sentence {number:,} has {length:,} words, and a parser takes at most "
                f"{MAX_WORDS:,}; split it into several"
            )


def make_batch(
    vectors: Sequence[Rows],
    tags: Sequence[Indices] | None = None,
    heads: Sequence[Indices] | None = None,
    labels: Sequence[Indices] | None = None,
) -> Batch:
    """Put sentences side by side, as they come; the longest must be the first, none be empty."""
    lengths = [len(rows) for rows in vectors]
    padded = np.zeros((len(vectors), lengths[0], vectors[0].shape[1]), np.float32)
    for row, part in zip(padded, vectors, strict=True):
        row[: len(part)] = part

    def pad(columns: Sequence[Indices] | None) -> torch.Tensor:
        out = np.full(padded.shape[:2], -1, np.int64)
        for row, column in zip(out, columns or (), strict=False):
            row[: len(column)] = column
        return torch.from_numpy(out)

    return Batch(
        torch.from_numpy(padded), torch.tensor(lengths), pad(tags), pad(heads), pad(labels)
    )


def cut_batches(lengths: Indices, order: Indices, settings: ParserSettings) -> list[Indices]:
    """Cut an order of sentences into batches, each within the limits, its longest first."""
    check_lengths(lengths.tolist())
    batches: list[Indices] = []
    batch: list[int] = []
    longest = 0
    for index in order.tolist():
        longest = max(longest, int(lengths[index]))
        full = settings.batch_sentences and len(batch) == settings.batch_sentences
        long = settings.batch_words and (len(batch) + 1) * longest > settings.batch_words
        if batch and (full or long):
            batches.append(_longest_first(batch, lengths))
            batch, longest = [], int(lengths[index])
        batch.append(index)
    if batch:
        batches.append(_longest_first(batch, lengths))
    return batches


def _longest_first(batch: list[int], lengths: Indices) -> Indices:
    indices = np.array(batch)
    return indices[np.argsort(-lengths[indices], kind="stable")]


class Into(Protocol):
    """A space, or a bridge into one."""

    def transform(self, vectors: Rows) -> NDArray[np.float32]:
        """Vectors of an encoder, where a parser wants them."""
        ...


@dataclass
class Examples:
    """Sentences with trees and the vectors of their words."""

    store: VectorStore
    space: Into
    tags: list[Indices]
    heads: list[Indices]
    labels: list[Indices]

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        store: VectorStore,
        space: Into,
        labels: Names,
        tags: Names,
    ) -> Examples:
        """What a treebank says, as numbers."""
        return cls(
            store,
            space,
            [tags.numbers(sentence.upos) for sentence in sentences],
            [np.array(sentence.heads, np.int64) for sentence in sentences],
            [labels.numbers(sentence.deprels) for sentence in sentences],
        )

    @property
    def lengths(self) -> Indices:
        """Words of each sentence."""
        return np.diff(self.store.offsets)

    def epoch(self, settings: ParserSettings, epoch: int) -> list[Indices]:
        """The batches of an epoch: the same for the same seed, others in each epoch."""
        lengths = self.lengths
        rng = np.random.default_rng([settings.seed, epoch])
        # A little noise, so that a sentence meets other neighbours of its length each time.
        noisy = lengths * rng.uniform(0.9, 1.1, len(lengths))
        order = np.argsort(noisy, kind="stable")
        batches = cut_batches(lengths, order[lengths[order] > 0], settings)
        return [batches[i] for i in rng.permutation(len(batches))]

    def batches(self, epoch: Sequence[Indices]) -> Iterator[Batch]:
        """Read batches from the disk; isotropy is applied here, some 2 % of a step's time."""
        for indices in epoch:
            rows = [self.store[i] for i in indices]
            ends = np.cumsum([len(part) for part in rows])[:-1]
            vectors = np.split(self.space.transform(np.concatenate(rows)), ends)
            sentences = map(self.sentence, indices.tolist(), vectors)
            yield make_batch(*zip(*sentences, strict=True))

    def sentence(self, index: int, rows: Rows) -> tuple[Rows, Indices, Indices, Indices]:
        """What is to be learned: vectors, tags, heads, labels."""
        return rows, self.tags[index], self.heads[index], self.labels[index]

    def digest(self) -> str:
        """A hash of all that training depends on."""
        digest = hashlib.sha256(self.store.folder.name.encode())
        for column in (self.tags, self.heads, self.labels):
            for numbers in column:
                digest.update(numbers.tobytes())
        return digest.hexdigest()
