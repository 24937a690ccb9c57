"""Trees carried over links as distributions (SubDP: Shi, Gimpel and Livescu 2022).

A source parser gives each word a distribution over heads, over labels and over tags. Through the
links of a sentence pair these become distributions of target words, which a parser can learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.floating]  # fp32 to compute with, fp16 to keep
LinkArray = NDArray[np.int64]  # [links, 2]: source word, target word


class Soft(NamedTuple):
    """What is believed of a sentence of n words; a row that sums to less than one is unsure."""

    arcs: Rows  # [n, n+1], head 0 is the root
    labels: Rows  # [n, labels]
    tags: Rows  # [n, tags]; no columns where nobody predicts tags

    def best_tags(self) -> NDArray[np.int64]:
        """The likeliest tag of each word, −1 where little is known."""
        best = self.tags.argmax(1) if self.tags.shape[1] else 0
        return np.where(self.tags.sum(1) > 0.5, best, -1).astype(np.int64)

    def half(self) -> Soft:
        """The same in fp16, to be kept."""
        return Soft(*(part.astype(np.float16) for part in self))


def pad(parts: Sequence[Rows]) -> Floats:
    """Rows of several sentences side by side, with zeros where one is shorter or narrower."""
    size = [max(part.shape[axis] for part in parts) for axis in (0, 1)]
    padded = np.zeros((len(parts), *size), np.float32)
    for place, part in zip(padded, parts, strict=True):
        place[: part.shape[0], : part.shape[1]] = part
    return padded


def project(source: Soft, links: LinkArray, words: int) -> Soft:
    """The source's beliefs, carried to a target sentence of so many words.

    P(q | p) = Σᵢ Σⱼ A[p, i] · P(j | i) · B[j, q], with A and B the links, normalised by row; the
    root goes to the root. What falls on unlinked words or from a word to itself is lost.
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
    """What the projection leaves open, filled with a target parser's own belief.

    Heads cross better than labels: what English says with a compound, another language says with a
    preposition or an adjective. So of labels a share is the target parser's own in any case.
    """
    open_labels = projected._replace(labels=(1 - own_labels) * projected.labels)
    parts = []
    for known, believed in zip(open_labels, own, strict=True):
        missing = np.clip(1 - known.sum(1, keepdims=True), 0, 1)
        parts.append(known + missing * believed)
    return Soft(*parts)


def mask(projected: Soft, least: float = 0.5) -> Soft:
    """Rows that kept little are emptied, so that nothing is learned from them; the others sum to 1.

    A label without its arc teaches nothing either.
    """
    sure = projected.arcs.sum(1, keepdims=True) >= least
    return Soft(*(_rows_to_one(part) * sure for part in projected))


def density(links: LinkArray, source_words: int, target_words: int) -> float:
    """The smaller share of linked words of the two sides."""
    if not len(links):
        return 0.0
    left, right = (len(np.unique(side)) for side in links.T)
    return min(left / source_words, right / target_words)


def _rows_to_one(matrix: Rows) -> Floats:
    total = matrix.sum(1, keepdims=True)
    return np.asarray(matrix / np.where(total > 0, total, 1), np.float32)
