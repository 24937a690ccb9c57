"""What a parser's network is, in torch or in ONNX: vectors in, scores out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treebridge.parse.settings import ParserSettings

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


class Scored(NamedTuple):
    """Scores of a batch of sentences; past the end of each they mean nothing."""

    arcs: Floats  # [batch, n, n+1], of each dependent and head; −inf for arcs that cannot be
    tags: Floats | None  # [batch, n, tags], where the parser predicts them
    labels: Callable[[Numbers], Floats]  # heads [batch, n] → [batch, n, labels]


class Network(Protocol):
    """Scores tags, arcs and labels."""

    settings: ParserSettings

    @property
    def at_once(self) -> int:
        """How many batches to score side by side."""
        ...

    @property
    def batch_words(self) -> int:
        """How many words a batch has at most, padding included."""
        ...

    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        """Score a padded batch [batch, n, dim]; tags are −1 where they are not known.

        A known tag replaces what the network would predict, where it uses tags. `added`
        [batch, n, tags] is added to the scores of tags before arcs are scored.
        """
        ...


def possible_arcs(lengths: Numbers, longest: int) -> NDArray[np.bool_]:
    """Arcs to words of the sentence other than the word itself: [batch, n, n+1]."""
    heads = np.arange(longest + 1)
    inside = heads[None, None, :] <= lengths[:, None, None]
    return np.asarray(inside & (heads[None, :] != heads[1:, None]))
