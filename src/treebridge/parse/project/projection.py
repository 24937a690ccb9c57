"""Project trees over links as distributions (SubDP: Shi, Gimpel and Livescu 2022).

A source parser gives each word distributions over heads, labels and tags. The links of a sentence
pair turn them into distributions for target words, on which a parser can be trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.floating]  # computed in fp32, stored in fp16
LinkArray = NDArray[np.int64]  # [links, 2]: source word, target word


class Soft(NamedTuple):
    """Distributions for a sentence of n words; rows may sum to less than one."""

    arcs: Rows  # [n, n+1], head 0 is the root
    labels: Rows  # [n, labels]
    tags: Rows  # [n, tags]; no columns if tags are not predicted

    def best_tags(self) -> NDArray[np.int64]:
        """The most likely tag of each word; −1 if its row sums to at most one half."""
        best = self.tags.argmax(1) if self.tags.shape[1] else 0
        return np.where(self.tags.sum(1) > 0.5, best, -1).astype(np.int64)

    def confidence(self) -> float:
        """Mean log-probability of the most likely heads."""
        return float(np.log(np.maximum(self.arcs.max(1), 1e-9)).mean())

    def half(self) -> Soft:
        """A copy in fp16, for storage."""
        return Soft(*(part.astype(np.float16) for part in self))


def pad(parts: Sequence[Rows]) -> Floats:
    """Stack the rows of several sentences, padded with zeros."""
    size = [max(part.shape[axis] for part in parts) for axis in (0, 1)]
    padded = np.zeros((len(parts), *size), np.float32)
    for place, part in zip(padded, parts, strict=True):
        place[: part.shape[0], : part.shape[1]] = part
    return padded


def project(source: Soft, links: LinkArray, words: int) -> Soft:
    """Project the source's distributions to a target sentence of `words` words.

    P(q | p) = Σᵢ Σⱼ A[p, i] · P(j | i) · B[j, q], with A and B the row-normalised links; the root
    maps to the root. Probability mass on unlinked words, or of a word heading itself, is dropped.
    """
    to_source = np.zeros((words, len(source.arcs)), np.float32)  # A: [target, source]
    to_source[links[:, 1], links[:, 0]] = 1
    to_target = to_source.T.copy()  # B: [source, target]
    to_source, to_target = _rows_to_one(to_source), _rows_to_one(to_target)
    moved = to_source @ source.arcs  # [target, source + 1]
    arcs = np.concatenate([moved[:, :1], moved[:, 1:] @ to_target], 1)
    arcs[np.arange(words), np.arange(1, words + 1)] = 0
    return Soft(arcs, to_source @ source.labels, to_source @ source.tags)


def fill(projected: Soft, own: Soft, own_labels: float = 0.0) -> Soft:
    """Fill the missing probability mass with a target parser's own distributions.

    Heads transfer better than labels: another language may use a preposition or an adjective where
    English uses a compound. So `own_labels` is the least share of the parser's own labels.
    """
    open_labels = projected._replace(labels=(1 - own_labels) * projected.labels)
    parts = []
    for known, predicted in zip(open_labels, own, strict=True):
        missing = np.clip(1 - known.sum(1, keepdims=True), 0, 1)
        parts.append(known + missing * predicted)
    return Soft(*parts)


def mask(projected: Soft, least: float = 0.5) -> Soft:
    """Zero out words whose arcs kept less than `least` of their mass; normalise the others.

    Labels and tags of a word without arcs are dropped too.
    """
    kept = projected.arcs.sum(1, keepdims=True) >= least
    return Soft(*(_rows_to_one(part) * kept for part in projected))


def density(links: LinkArray, source_words: int, target_words: int) -> float:
    """Share of linked target words, or twice that of source words if this is less.

    What counts is how many target words are told their heads. A language without articles and
    prepositions leaves half of an English sentence unlinked, and that is no fault.
    """
    if not len(links):
        return 0.0
    left, right = (len(np.unique(side)) for side in links.T)
    return min(2 * left / source_words, right / target_words)


def _rows_to_one(matrix: Rows) -> Floats:
    total = matrix.sum(1, keepdims=True)
    return np.asarray(matrix / np.where(total > 0, total, 1), np.float32)
