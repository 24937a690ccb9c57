"""What the input says about its trees, as constraints: heads, labels and tags that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import given_heads, partial_problem
from treebridge.errors import TreebridgeError
from treebridge.parse.network import Floats, Numbers
from treebridge.parse.padding import pad_numbers
from treebridge.parse.vocab import UNKNOWN, Names

Mask = NDArray[np.bool_]


class Given(NamedTuple):
    """What is known of a batch before it is parsed; −1 where the parser may choose."""

    marks: Mask  # [batch, n], words that can only be punctuation
    letters: Mask  # [batch, n], words that cannot be punctuation
    tags: Numbers  # [batch, n]; a tag that the parser does not know is −1 too
    heads: Numbers  # [batch, n]
    labels: Numbers  # [batch, n]; a label that the parser does not know is −1 too

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        labels: Names,
        tags: Names,
        *,
        keep_heads: bool = False,
        keep_tags: bool = False,
    ) -> Given:
        """What some sentences say; the longest must be the first."""
        shape = len(sentences), len(sentences[0])
        marks = [np.array([is_only_punctuation(form) for form in s.forms]) for s in sentences]
        letters = [np.array([any(map(str.isalnum, form)) for form in s.forms]) for s in sentences]
        heads, names, known = None, None, None
        if keep_heads:
            heads = [head_numbers(s) for s in sentences]
            names = [labels.numbers(s.deprels) for s in sentences]
        if keep_tags:
            known = [tags.numbers(s.upos) for s in sentences]
        return cls(
            pad_numbers(marks, shape) > 0,
            pad_numbers(letters, shape) > 0,
            *(pad_numbers(column, shape) for column in (known, heads, names)),
        )


def head_numbers(sentence: Sentence) -> Numbers:
    """The heads of a sentence, −1 where they are unknown."""
    return np.array([UNKNOWN if h is None else h for h in given_heads(sentence)], np.int64)


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
