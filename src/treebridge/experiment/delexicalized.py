"""An encoder that knows nothing, for a parser that sees tags alone (McDonald et al. 2011)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.encoder import Encoded, Encoder, Words


class BlankEncoder(Encoder):
    """The same vector for every word of every language: a single zero."""

    name = "blank"
    dim = 1

    @property
    def fingerprint(self) -> str:
        """There is only one such encoder."""
        return "blank"

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Every word is whole."""
        return np.ones(len(words), bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Zeros."""
        for words in sentences:
            yield Encoded(np.zeros((len(words), self.dim), np.float32), self.whole(words))
