"""What the input says about its trees, as constraints: heads, labels and tags that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import given_heads, partial_problem
from treebridge.errors import TreebridgeError
from treebridge.parse.network import Floats, Numbers
from treebridge.parse.padding import pad_numbers
from treebridge.parse.vocab import UNKNOWN, Names


class Given(NamedTuple):
    """Heads and labels of a batch that must not change; −1 where the parser may choose."""

    heads: Numbers  # [batch, n]
    labels: Numbers  # [batch, n]; a label that the parser does not know is −1 too

    @classmethod
    def of(cls, sentences: Sequence[Sentence], labels: Names, shape: tuple[int, ...]) -> Given:
        """What some sentences say, padded to [batch, n]."""
        heads = [
            np.array([UNKNOWN if head is None else head for head in given_heads(s)], np.int64)
            for s in sentences
        ]
        return cls(
            pad_numbers(heads, shape),
            pad_numbers([labels.numbers(s.deprels) for s in sentences], shape),
        )


def only_given_heads(arcs: Floats, heads: Numbers) -> Floats:
    """Forbid all other heads of a word whose head is given, and all other roots if one is.

    `arcs` are scores [batch, n, n+1], `heads` [batch, n] are −1 where they are not given.
    """
    given = heads >= 0
    allowed = (np.arange(arcs.shape[-1]) == heads[..., None]) | ~given[..., None]
    allowed[..., 0] &= (heads == 0) | ~(heads == 0).any(1, keepdims=True)
    return np.where(allowed, arcs, np.float32(-np.inf))


def only_given_labels(scores: Floats, labels: Numbers) -> Floats:
    """Forbid all other labels of a word whose label is given: [batch, n, labels], [batch, n]."""
    allowed = (np.arange(scores.shape[-1]) == labels[..., None]) | (labels < 0)[..., None]
    return np.where(allowed, scores, np.float32(-np.inf))


def check_given(sentences: Sequence[Sentence], before: int = 0) -> None:
    """Refuse heads that no tree has; `before` is how many sentences came earlier."""
    for number, sentence in enumerate(sentences, before + 1):
        heads = given_heads(sentence)
        wrong = [i for i, head in enumerate(heads) if head is not None and head > len(heads)]
        problem = (wrong[0], "HEAD is out of range") if wrong else partial_problem(heads)
        if problem and len(sentence):
            word, message = problem
            raise TreebridgeError(f"sentence {number:,}, word {word + 1}: {message}")
