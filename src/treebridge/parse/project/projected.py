"""Training sentences with distributions instead of trees."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from treebridge.encode.encoder import Words
from treebridge.parse.batches import make_batch
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.distributions import distributions
from treebridge.parse.lexical import LexiconLimits
from treebridge.parse.padding import Indices, Rows
from treebridge.parse.project.projection import Soft, fill, pad


@dataclass(frozen=True)
class Filling:
    """What links carry, so that unlinked words can be filled in, perhaps repeatedly."""

    carried: list[Soft]  # as the links carry them
    own_labels: float
    tags: list[Indices] | None = None  # of a tagger, if the parser needs them
    limits: LexiconLimits | None = None  # of a lexicon


@dataclass
class Projected:
    """Target sentences: vectors in the parser's space, and their distributions."""

    vectors: list[Rows]
    soft: list[Soft]
    words: list[Words]
    filling: Filling | None = None

    def __len__(self) -> int:
        return len(self.soft)

    @property
    def lengths(self) -> Indices:
        """Number of words of each sentence."""
        return np.array([len(rows) for rows in self.vectors], np.int64)

    def digest(self) -> str:
        """A hash of vectors and distributions."""
        digest = hashlib.sha256()
        for rows, soft in zip(self.vectors, self.soft, strict=True):
            for part in (rows, *soft):
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    def filled(self, model: Biaffine, vectors: Sequence[Rows], device: str) -> Projected:
        """The sentences with a parser's own predictions for unlinked words."""
        filling = self.filling
        assert filling is not None
        carried = filling.carried
        tags = [part.best_tags() for part in carried]
        if filling.tags:
            tags = [np.where(t < 0, p, t) for t, p in zip(tags, filling.tags, strict=True)]
        soft = list(carried)
        for index, own in distributions(model, vectors, tags, device, carried):
            soft[index] = fill(carried[index], own, filling.own_labels).half()
        return replace(self, soft=limited(soft, self.words, filling.limits))

    def batch(self, indices: Indices) -> tuple[Batch, Soft]:
        """A batch of sentences, and their distributions padded with zeros."""
        soft = [self.soft[i] for i in indices]
        given = [part.best_tags() for part in soft] if soft[0].tags.shape[1] else None
        batch = make_batch([self.vectors[i] for i in indices], given)
        return batch, Soft(*(pad(parts) for parts in zip(*soft, strict=True)))


def soft_loss(model: Biaffine, batch: Batch, soft: Soft) -> Tensor:
    """Cross-entropy against distributions, summed over words; empty rows are ignored."""
    states = model(batch)
    arcs, labels, tags = (torch.from_numpy(part).to(states.arcs.device) for part in soft)
    logs = states.arcs.log_softmax(-1).masked_fill(arcs == 0, 0)  # −inf · 0 would be NaN
    total: Tensor = -(arcs * logs).sum()
    scores = model.label_scores(states, arcs.argmax(-1))
    total = total - (labels * scores.log_softmax(-1)).sum()
    if states.tags is not None:
        total = total - (tags * states.tags.log_softmax(-1)).sum()
    return total


def limited(soft: list[Soft], words: Sequence[Words], limits: LexiconLimits | None) -> list[Soft]:
    """Distributions in which a word has only the tags that a lexicon allows."""
    if limits is None:
        return soft
    both = zip(soft, words, strict=True)
    return [part._replace(tags=limits.allowed(part.tags, forms)) for part, forms in both]
