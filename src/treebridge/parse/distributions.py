"""A parser's distributions over heads, labels and tags, instead of one tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import one_hot

from treebridge.parse.batches import make_batch
from treebridge.parse.biaffine import Batch, Biaffine, to_device
from treebridge.parse.padding import Indices, Rows, batches_by_length
from treebridge.parse.project.projection import Soft, pad

BATCH_WORDS = 3000


def distributions(
    model: Biaffine,
    vectors: Sequence[Rows],
    tags: Sequence[Indices] | None = None,
    device: str = "cpu",
    known: Sequence[Soft] | None = None,
) -> Iterator[tuple[int, Soft]]:
    """Yield the index and the distributions of each sentence, in no particular order.

    Vectors must be in the parser's space. Labels are conditioned on the most likely head, where
    the head distributions in `known` take precedence over the parser's own.
    """
    lengths = np.array([len(rows) for rows in vectors], np.int64)
    for indices in batches_by_length(lengths, BATCH_WORDS):
        given = [tags[i] for i in indices] if tags is not None else None
        batch = make_batch([vectors[i] for i in indices], given)
        heads = pad([known[i].arcs for i in indices]) if known is not None else None
        arcs, labels, tagged = _distributions(model, batch, device, heads)
        for row, index in enumerate(indices):
            n = int(lengths[index])
            yield int(index), Soft(arcs[row, :n, : n + 1], labels[row, :n], tagged[row, :n])


def _distributions(
    model: Biaffine, batch: Batch, device: str, heads_known: NDArray[np.float32] | None
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    with torch.inference_mode():
        states = model(to_device(batch, device))
        arcs = states.arcs.softmax(-1)  # [batch, n, n+1]
        heads = states.arcs
        if heads_known is not None:
            known = torch.from_numpy(heads_known).to(device)
            heads = known + (1 - known.sum(-1, keepdim=True)).clamp(min=0) * arcs
        labels = model.label_scores(states, heads.argmax(-1)).softmax(-1)
        if states.tags is not None:
            tags = states.tags.softmax(-1)  # [batch, n, tags]
        elif model.settings.tags == "gold":  # given tags have probability 1
            count = model.tag_vectors.shape[0]
            tags = one_hot(batch.tags.clamp(min=0), count) * (batch.tags >= 0)[..., None]
        else:
            tags = arcs.new_zeros(*arcs.shape[:2], 0)
        return arcs.cpu().numpy(), labels.cpu().numpy(), tags.float().cpu().numpy()
