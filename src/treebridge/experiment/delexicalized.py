"""A constant encoder, for a delexicalized parser that sees only tags (McDonald et al. 2011)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.encoder import Encoded, Encoder, Words


class BlankEncoder(Encoder):
    """Encodes every word of every language as a single zero."""

    name = "blank"
    dim = 1

    @property
    def fingerprint(self) -> str:
        """A constant: all blank encoders are the same."""
        return "blank"

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Every word is whole."""
        return np.ones(len(words), bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Encode every word as zero."""
        for words in sentences:
            yield Encoded(np.zeros((len(words), self.dim), np.float32), self.whole(words))
