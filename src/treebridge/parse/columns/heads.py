"""The network of the classifiers: a word's vector, its neighbours and its tag in, scores out.

It runs on numpy alone, in packed models and in others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treebridge.parse.columns.classifiers import XPOS_NAME, Classifiers
from treebridge.parse.columns.spelling import Spelling
from treebridge.parse.padding import Indices, Rows

Floats = NDArray[np.float32]
SIDES = 3  # the word, the one before and the one after


@dataclass(frozen=True)
class Weights:
    """Two layers; what a tag adds to the hidden layer is a row of its own."""

    vectors: Floats  # [3·dim, hidden]
    tags: Floats  # [tags, hidden]
    bias: Floats  # [hidden]
    out: Floats  # [hidden, width]
    out_bias: Floats  # [width]


@dataclass(frozen=True)
class Heads:
    """Classifiers with their weights."""

    classifiers: Classifiers
    weights: Weights
    spelling: Spelling | None = None  # learned from trees of the language

    def scores(
        self, rows: Sequence[Rows], tags: Sequence[Indices], forms: Sequence[Sequence[str]]
    ) -> Floats:
        """Scores [words, width] of the words of sentences, from vectors in the parser's space.

        Tags are numbers of the parser's tags, −1 where they are not known.
        """
        weights = self.weights
        known = np.concatenate([*tags, np.zeros(0, np.int64)])
        hidden = with_neighbours(rows) @ weights.vectors + weights.bias  # [words, hidden]
        hidden[known >= 0] += weights.tags[known[known >= 0]]
        scores = np.asarray(np.maximum(hidden, 0) @ weights.out + weights.out_bias, np.float32)
        if self.spelling:
            self.spelling.add_to(scores, forms, tags)
        return scores

    def across(self) -> Heads | None:
        """The heads for another language, whose own tags XPOS are not these."""
        return self.without([XPOS_NAME])

    def without(self, names: Sequence[str]) -> Heads | None:
        """The heads without some classifiers; None if none are left."""
        left = self.classifiers.without(names)
        places = [self.classifiers.places[name] for name in left.values]
        if not places:
            return None
        columns = np.concatenate([np.arange(place.start, place.stop) for place in places])
        old = self.weights
        weights = Weights(
            old.vectors, old.tags, old.bias, old.out[:, columns], old.out_bias[columns]
        )
        spelling = self.spelling and replace(self.spelling, votes=self.spelling.votes[:, columns])
        return Heads(left, weights, spelling)

    def spelled(self, forms: Sequence[Sequence[str]], tags: Sequence[Indices]) -> Heads:
        """The heads with room for what the spelling of these words says."""
        width = self.classifiers.width
        return replace(self, spelling=Spelling.of(forms, tags, width, self.spelling))

    def widened(self, classifiers: Classifiers) -> Heads:
        """The heads with further classifiers and values, which start with no probability.

        `classifiers` must have ours in the same order, with further values behind ours.
        """
        old, width = self.weights, classifiers.width
        out = np.zeros((old.out.shape[0], width), np.float32)
        votes = None if self.spelling is None else np.zeros((len(self.spelling.keys), width))
        bias = np.full(width, NEVER, np.float32)
        for name, place in classifiers.places.items():
            if name not in self.classifiers.values:
                bias[place] = 0
                continue
            was = self.classifiers.places[name]
            now = slice(place.start, place.start + was.stop - was.start)
            out[:, now], bias[now] = old.out[:, was], old.out_bias[was]
            if votes is not None and self.spelling:
                votes[:, now] = self.spelling.votes[:, was]
        spelling = self.spelling and replace(self.spelling, votes=np.asarray(votes, np.float32))
        return Heads(classifiers, Weights(old.vectors, old.tags, old.bias, out, bias), spelling)


NEVER = -4.0  # score of a value before it has been seen


def with_neighbours(rows: Sequence[Rows]) -> Floats:
    """Each word in a row with those around it in its sentence: [words, 3·dim]."""
    words = sum(map(len, rows))
    dim = rows[0].shape[1] if len(rows) else 0
    out = np.zeros((words, SIDES * dim), np.float32)
    start = 0
    for part in rows:
        n = len(part)
        here = out[start : start + n]
        here[:, :dim] = part  # [n, dim]
        here[1:, dim : 2 * dim] = part[:-1]
        here[:-1, 2 * dim :] = part[1:]
        start += n
    # A unit vector has small components: bring them to the size that the layers expect.
    out *= dim**0.5
    return out
