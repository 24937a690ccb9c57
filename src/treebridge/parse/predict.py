"""From a network's scores to trees that Universal Dependencies accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.sentence import Sentence
from treebridge.parse.calibration import UNCHANGED, Temperatures
from treebridge.parse.given import Given, only_given_heads, only_given_labels
from treebridge.parse.lexical import BatchLimits
from treebridge.parse.mst import decode_batch
from treebridge.parse.network import Floats, Network, Numbers, Scored
from treebridge.parse.ud_repair import (
    attach_punctuation,
    best_tags,
    label_masks,
    settle_labels,
    with_tags,
)
from treebridge.parse.ud_rules import Mask, Rules
from treebridge.parse.vocab import Names

NOT_A_HEAD = -1e6  # added to the score of punctuation as a head: only if there is no other


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
    rules: Rules,
    given: Given,
    heat: Temperatures = UNCHANGED,
    limits: BatchLimits | None = None,
    prior: Floats | None = None,
) -> Prediction:
    """Predict the best single-root tree of each sentence, and its probabilities.

    `tags` are known to the network, −1 where it predicts them; what is `given` stays as it is. The
    tree follows the rules of Universal Dependencies as far as that allows. Temperatures change the
    probabilities, never the tree; `limits` are those of a lexicon, and `prior` is added to the
    scores of tags [batch, n, tags].
    """
    added = prior
    if limits:
        added = limits.tags if prior is None else prior + limits.tags
        given = limits.exempt(given)
    scored = network.score(vectors, lengths, tags, added)
    possible_arcs = only_given_heads(scored.arcs, given.heads)
    arcs = log_softmax(possible_arcs)  # [batch, n, n+1]
    tagged, marks = _tag_scores(scored, rules, given)
    square = np.pad(arcs.astype(np.float64), ((0, 0), (1, 0), (0, 0)))  # [batch, n+1, n+1]
    square[:, :, 1:] += np.where(marks, NOT_A_HEAD, 0)[:, None, :]
    heads = decode_batch(square, lengths)  # [batch, n]
    scores = scored.labels(heads)  # [batch, n, labels]
    if limits:
        scores = limits.labels(scores, None if scored.tags is None else tagged.argmax(-1), heads)
    allowed = label_masks(rules, heads) | (given.labels >= 0)[..., None]
    possible = np.where(allowed, only_given_labels(scores, given.labels), -np.inf)
    possible = np.where(np.isfinite(possible).any(-1, keepdims=True), possible, scores)
    joint = with_tags(rules, log_softmax(possible), tagged)
    labels = np.zeros_like(heads)
    for row, n in enumerate(lengths):
        at = (row, slice(n))
        labels[at] = settle_labels(rules, heads[at], joint[at], tagged[at])
        attach_punctuation(heads[at], arcs[at], marks[at], given.heads[at] >= 0)
    return Prediction(
        heads,
        labels,
        None if scored.tags is None else best_tags(rules, labels, tagged),
        _probability(possible_arcs, np.maximum(heads, 0), heat.arc),
        _probability(possible, labels, heat.label),
        None if scored.tags is None else np.exp(log_softmax(scored.tags)),
    )


def _probability(scores: Floats, chosen: Numbers, heat: float) -> Floats:
    """Probabilities of the chosen entries along the last axis."""
    logs = log_softmax(scores / np.float32(heat))
    return np.exp(np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0])


def _tag_scores(scored: Scored, rules: Rules, given: Given) -> tuple[Floats, Mask]:
    """Log-probabilities of tags [batch, n, tags], and which words are punctuation [batch, n].

    Marks unknown to the source language (¿) may get any tag, so punctuation is told by its form.
    """
    count = rules.fitting.shape[1]
    if scored.tags is None:
        tags = np.zeros((*given.marks.shape, count), np.float32)
    else:
        tags = log_softmax(scored.tags)
    marks = given.marks
    if rules.punctuation >= 0:
        best = tags.argmax(-1) == rules.punctuation
        if scored.tags is not None:
            marks = marks | (best & ~given.letters)
        marks = np.where(given.tags >= 0, given.tags == rules.punctuation, marks)
        is_mark = np.arange(count) == rules.punctuation
        tags = np.where(marks[..., None] == is_mark, tags, np.float32(-np.inf))
    return only_given_labels(tags, given.tags), np.asarray(marks)


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
) -> Sentence:
    """Add the tree of a row to a sentence; `retag` replaces existing tags, `relabel` labels."""
    n = len(sentence)
    deprels, upos = labels.names(found.labels[row, :n]), None
    if not relabel:
        deprels = _filled(sentence.deprels, deprels)
    if found.tags is not None:
        upos = tags.names(found.tags[row, :n])
        if not retag:
            upos = _filled(sentence.upos, upos)
    return sentence.annotate(heads=found.heads[row, :n].tolist(), deprels=deprels, upos=upos)


def _filled(given: Sequence[str], own: Sequence[str]) -> list[str]:
    return [new if old == "_" else old for old, new in zip(given, own, strict=True)]
