"""From vectors on disk to batches of sentences of about the same length."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Words
from treebridge.encode.store import MemoryStore, VectorStore
from treebridge.parse.biaffine import Batch
from treebridge.parse.given import head_numbers
from treebridge.parse.padding import Indices, Rows, cut_batches, pad_numbers, pad_vectors
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import UNKNOWN, Names


def make_batch(
    vectors: Sequence[Rows],
    tags: Sequence[Indices] | None = None,
    heads: Sequence[Indices] | None = None,
    labels: Sequence[Indices] | None = None,
) -> Batch:
    """Put sentences side by side, as they come; the longest must be the first, none be empty."""
    padded = pad_vectors(vectors)
    numbers = (pad_numbers(column, padded.shape[:2]) for column in (tags, heads, labels))
    lengths = torch.tensor([len(rows) for rows in vectors])
    return Batch(torch.from_numpy(padded), lengths, *map(torch.from_numpy, numbers))


class Into(Protocol):
    """A space, or a bridge into one."""

    def transform(self, vectors: Rows) -> NDArray[np.float32]:
        """Vectors of an encoder, where a parser wants them."""
        ...


@dataclass
class Examples:
    """Sentences with trees and the vectors of their words."""

    store: VectorStore | MemoryStore
    space: Into
    tags: list[Indices]
    heads: list[Indices]
    labels: list[Indices]
    words: list[Words]

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        store: VectorStore | MemoryStore,
        space: Into,
        labels: Names,
        tags: Names,
    ) -> Examples:
        """What a treebank says, as numbers; −1 is what it does not say, which no loss counts."""
        heads = [head_numbers(sentence) for sentence in sentences]
        # A label is learned together with its head: without one, it has no arc to belong to.
        known = zip(heads, (labels.numbers(s.deprels) for s in sentences), strict=True)
        return cls(
            store,
            space,
            [tags.numbers(sentence.upos) for sentence in sentences],
            heads,
            [np.where(head < 0, UNKNOWN, label) for head, label in known],
            [sentence.forms for sentence in sentences],
        )

    @property
    def lengths(self) -> Indices:
        """Words of each sentence."""
        return np.diff(self.store.offsets)

    @property
    def arcs(self) -> int:
        """Words whose head is known."""
        return sum(int((heads >= 0).sum()) for heads in self.heads)

    def epoch(self, settings: ParserSettings, epoch: int) -> list[Indices]:
        """The batches of an epoch: the same for the same seed, others in each epoch."""
        lengths = self.lengths
        rng = np.random.default_rng([settings.seed, epoch])
        # A little noise, so that a sentence meets other neighbours of its length each time.
        noisy = lengths * rng.uniform(0.9, 1.1, len(lengths))
        order = np.argsort(noisy, kind="stable")
        batches = cut_batches(lengths, order[lengths[order] > 0], *settings.limits)
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
        digest = hashlib.sha256(self.store.key.encode())
        for column in (self.tags, self.heads, self.labels):
            for numbers in column:
                digest.update(numbers.tobytes())
        return digest.hexdigest()
