"""From a batch of vectors to one tree a sentence, and how sure the parser is of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import Sentence
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.mst import decode_batch
from treebridge.parse.vocab import Names

PUNCTUATION = "PUNCT"


class Prediction(NamedTuple):
    """Trees of a batch; past the end of a sentence heads are −1 and the rest means nothing."""

    heads: NDArray[np.int64]  # [batch, n]
    labels: NDArray[np.int64]  # [batch, n]
    tags: NDArray[np.int64] | None  # [batch, n]
    arc_probabilities: NDArray[np.float32]  # [batch, n], of the chosen arcs
    label_probabilities: NDArray[np.float32]  # [batch, n], of the chosen labels


def predict(
    model: Biaffine, batch: Batch, labels: Sequence[str], device: str = "cpu"
) -> Prediction:
    """The best tree of each sentence, always one with one root, and its probabilities.

    The root's word, and no other, has the label `root`, as Universal Dependencies want it.
    """
    roots = torch.tensor([label.partition(":")[0] == "root" for label in labels], device=device)
    with torch.inference_mode():
        states = model(to_device(batch, device))
        arcs = states.arcs.log_softmax(-1)  # [batch, n, n+1]
        square = torch.nn.functional.pad(arcs, (0, 0, 1, 0)).cpu().numpy()  # [batch, n+1, n+1]
        heads = decode_batch(square, batch.lengths.numpy())  # [batch, n]
        chosen = torch.from_numpy(heads).to(device)
        scores = model.label_scores(states, chosen)  # [batch, n, labels]
        if not roots.all() and roots.any():
            wrong = (chosen == 0).unsqueeze(-1) != roots
            scores = scores.masked_fill(wrong, -torch.inf)
        best = scores.softmax(-1).max(-1)  # [batch, n] each
        arc_probabilities = arcs.gather(2, chosen.clamp(min=0).unsqueeze(-1)).squeeze(-1).exp()
        return Prediction(
            heads,
            best.indices.cpu().numpy(),
            None if states.tags is None else states.tags.argmax(-1).cpu().numpy(),
            arc_probabilities.cpu().numpy(),
            best.values.cpu().numpy(),
        )


def annotated(
    sentence: Sentence, found: Prediction, row: int, labels: Names, tags: Names, *, retag: bool
) -> Sentence:
    """A sentence with the tree of a row; `retag` also replaces tags that are there already.

    Punctuation that the source language does not have (¿) would get tag and label of anything.
    """
    n = len(sentence)
    upos = None
    heads, deprels = found.heads[row, :n].tolist(), labels.names(found.labels[row, :n])
    marks = [is_only_punctuation(form) for form in sentence.forms]
    if "punct" in labels:
        deprels = [
            "punct" if mark and head else label
            for mark, head, label in zip(marks, heads, deprels, strict=True)
        ]
    if found.tags is not None:
        upos = [
            PUNCTUATION if mark and PUNCTUATION in tags else tag
            for mark, tag in zip(marks, tags.names(found.tags[row, :n]), strict=True)
        ]
        if not retag:
            pairs = zip(sentence.upos, upos, strict=True)
            upos = [own if given == "_" else given for given, own in pairs]
    return sentence.annotate(heads=heads, deprels=deprels, upos=upos)


def to_device(batch: Batch, device: str) -> Batch:
    """The batch on a device; lengths stay on the CPU, where packing wants them."""
    if device == "cpu":
        return batch
    moved = (tensor.to(device) for tensor in (batch.vectors, *batch[2:]))
    vectors, *rest = moved
    return Batch(vectors, batch.lengths, *rest)
