"""Training sentences with distributions instead of trees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from treebridge.encode.encoder import Words
from treebridge.parse.batches import make_batch
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.padding import Indices, Rows
from treebridge.parse.project.projection import Soft, pad


@dataclass
class Projected:
    """Target sentences: vectors in the parser's space, and their distributions."""

    vectors: list[Rows]
    soft: list[Soft]
    words: list[Words]

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
