"""Predict a tree and its probabilities for each sentence of a batch."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import Sentence
from treebridge.parse.calibration import UNCHANGED, Temperatures
from treebridge.parse.given import Given, only_given_heads, only_given_labels
from treebridge.parse.lexical import BatchLimits
from treebridge.parse.mst import decode_batch
from treebridge.parse.network import Floats, Network, Numbers
from treebridge.parse.vocab import Names

PUNCTUATION = "PUNCT"


class Prediction(NamedTuple):
    """Trees of a batch; past the end of a sentence, heads are −1 and the rest is undefined."""

    heads: Numbers  # [batch, n]
    labels: Numbers  # [batch, n]
    tags: Numbers | None  # [batch, n]
    arc_probabilities: Floats  # [batch, n], of the chosen arcs
    label_probabilities: Floats  # [batch, n], of the chosen labels
    tag_probabilities: Floats | None = None  # [batch, n, tags], of all tags


def predict(
    network: Network,
    vectors: Floats,
    lengths: Numbers,
    tags: Numbers,
    labels: Sequence[str],
    heat: Temperatures = UNCHANGED,
    given: Given | None = None,
    limits: BatchLimits | None = None,
) -> Prediction:
    """Predict the best single-root tree of each sentence, and its probabilities.

    Known tags (not −1) are taken as they are, and so are the heads and labels that are `given`.
    The root word, and only that word, gets the label `root`, as Universal Dependencies require.
    Temperatures change the probabilities, never the tree; `limits` are those of a lexicon.
    """
    scored = network.score(vectors, lengths, tags, limits.tags if limits else None)
    tagged = None if scored.tags is None else scored.tags.argmax(-1)
    possible = only_given_heads(scored.arcs, given.heads) if given else scored.arcs
    arcs = log_softmax(possible)  # [batch, n, n+1]
    square = np.pad(arcs, ((0, 0), (1, 0), (0, 0)))  # [batch, n+1, n+1]
    heads = decode_batch(square, lengths)  # [batch, n]
    scores = scored.labels(heads)  # [batch, n, labels]
    roots = np.array([label.partition(":")[0] == "root" for label in labels])
    if not roots.all() and roots.any():
        allowed = (heads == 0)[..., None] == roots
        scores = np.where(
            allowed | (given.labels >= 0)[..., None] if given else allowed, scores, -np.inf
        )
    if limits:
        scores = limits.labels(scores, tagged, heads)
    if given:
        scores = only_given_labels(scores, given.labels)
    best = scores.argmax(-1)
    return Prediction(
        heads,
        best,
        tagged,
        _probability(possible, np.maximum(heads, 0), heat.arc),
        _probability(scores, best, heat.label),
        None if scored.tags is None else np.exp(log_softmax(scored.tags)),
    )


def _probability(scores: Floats, chosen: Numbers, heat: float) -> Floats:
    """Probabilities of the chosen entries along the last axis."""
    logs = log_softmax(scores / np.float32(heat))
    return np.exp(np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0])


def log_softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logarithms of probabilities along the last axis."""
    largest = scores.max(-1, keepdims=True)
    shifted = scores - np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore"):  # past the end of a sentence, everything is impossible
        total = np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.asarray(shifted - np.where(np.isfinite(total), total, 0), scores.dtype)


def annotated(
    sentence: Sentence,
    found: Prediction,
    row: int,
    labels: Names,
    tags: Names,
    *,
    retag: bool,
    relabel: bool = True,
    exempt: Container[str] = (),
) -> Sentence:
    """Add the tree of a row to a sentence; `retag` also replaces existing tags, `relabel` labels.

    Punctuation is set by rule, since marks unknown to the source language (¿) may get any label;
    not that of `exempt`, the forms of a lexicon.
    """
    n = len(sentence)
    upos = None
    heads, deprels = found.heads[row, :n].tolist(), labels.names(found.labels[row, :n])
    marks = [is_only_punctuation(form) and form not in exempt for form in sentence.forms]
    if "punct" in labels:
        deprels = [
            "punct" if mark and head else label
            for mark, head, label in zip(marks, heads, deprels, strict=True)
        ]
    if not relabel:
        deprels = _filled(sentence.deprels, deprels)
    if found.tags is not None:
        upos = [
            PUNCTUATION if mark and PUNCTUATION in tags else tag
            for mark, tag in zip(marks, tags.names(found.tags[row, :n]), strict=True)
        ]
        if not retag:
            upos = _filled(sentence.upos, upos)
    return sentence.annotate(heads=heads, deprels=deprels, upos=upos)


def _filled(given: Sequence[str], own: Sequence[str]) -> list[str]:
    return [new if old == "_" else old for old, new in zip(given, own, strict=True)]
