"""Reorder source trees into the target's word order, as estimated from links.

A BiLSTM learns on which side of the head dependents are. English adjectives precede their nouns,
Portuguese ones mostly follow; a parser trained on trees of both orders finds heads on either side.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from treebridge.parse.batches import Examples
from treebridge.parse.padding import Indices, Rows
from treebridge.parse.project.projection import LinkArray
from treebridge.parse.settings import ParserSettings

LEAST = 50  # arcs needed to estimate the order of a label
Kind = tuple[int, bool]  # a label, and whether the dependent precedes its head


@dataclass
class WordOrder:
    """How often a dependent changes sides of its head between source and target."""

    arcs: Counter[Kind] = field(default_factory=Counter)
    flipped: Counter[Kind] = field(default_factory=Counter)

    def add(self, heads: Indices, labels: Indices, links: LinkArray) -> None:
        """Count the arcs of a source tree whose two ends are linked."""
        place = dict(links.tolist())
        for word, (head, label) in enumerate(zip(heads.tolist(), labels.tolist(), strict=True)):
            here, there = place.get(word), place.get(head - 1)
            if head and here is not None and there is not None and here != there:
                kind = label, word + 1 < head
                self.arcs[kind] += 1
                self.flipped[kind] += (here < there) != kind[1]

    def flips(self) -> dict[Kind, float]:
        """The probability that a dependent changes sides; rare kinds never do."""
        return {
            kind: self.flipped[kind] / count for kind, count in self.arcs.items() if count >= LEAST
        }


def reorder(
    heads: Indices, labels: Indices, flips: dict[Kind, float], rng: np.random.Generator
) -> Indices:
    """Draw a word order in which dependents change sides with the probabilities `flips`.

    A dependent moves next to its head, together with its own subtree.
    """
    n = len(heads)
    sides: list[list[list[int]]] = [[[] for _ in range(n + 1)] for _ in range(4)]
    before, after, to_left, to_right = sides  # the dependents of each head
    chances = rng.random(n)
    for word, (head, label) in enumerate(zip(heads.tolist(), labels.tolist(), strict=True), 1):
        left = word < head
        if head and chances[word - 1] < flips.get((label, left), 0):
            (to_right if left else to_left)[head].append(word)
        else:
            (before if left else after)[head].append(word)
    if not any(to_left) and not any(to_right):
        return np.arange(n)
    order: list[int] = []
    waiting = [(0, False)]  # a word, and whether its dependents are already queued
    while waiting:
        word, done = waiting.pop()
        if done:
            order.append(word - 1)
            continue
        left = before[word] + to_left[word][::-1]
        right = to_right[word][::-1] + after[word]
        row = [*((w, False) for w in left), (word, True), *((w, False) for w in right)]
        waiting += row[::-1]
    order.remove(-1)  # the root
    return np.array(order)


@dataclass
class Reordered(Examples):
    """Examples whose word order is drawn again in every epoch."""

    flips: dict[Kind, float] = field(default_factory=dict)

    def epoch(self, settings: ParserSettings, epoch: int) -> list[Indices]:
        """The batches of an epoch, with new word orders."""
        self._rng = np.random.default_rng([settings.seed, epoch, 1])
        return super().epoch(settings, epoch)

    def sentence(self, index: int, rows: Rows) -> tuple[Rows, Indices, Indices, Indices]:
        """A sentence in its new order: vectors, tags, heads, labels."""
        rows, tags, heads, labels = super().sentence(index, rows)
        order = reorder(heads, labels, self.flips, self._rng)
        place = np.zeros(len(heads) + 1, np.int64)
        place[order + 1] = np.arange(1, len(heads) + 1)
        return rows[order], tags[order], place[heads[order]], labels[order]

    def digest(self) -> str:
        """A hash of all that training depends on."""
        return super().digest() + repr(sorted(self.flips.items()))


def in_order(examples: Examples, order: WordOrder) -> Reordered:
    """The same sentences in the target's word order."""
    return Reordered(**vars(examples), flips=order.flips())
