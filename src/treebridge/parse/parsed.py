"""What a parser gives: a sentence with its tree and probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.sentence import Sentence

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Parsed:
    """A sentence with its tree, and how sure the parser is of each arc and label."""

    sentence: Sentence
    arcs: Floats  # [n], probability of each word's head
    labels: Floats  # [n], probability of its label, given the head
    tags: Floats | None = None  # [n, tags], probabilities of all tags, where they are predicted

    @property
    def score(self) -> float:
        """The expected share of right labelled arcs; 1 for a sentence without words."""
        return float((self.arcs * self.labels).mean()) if len(self.arcs) else 1.0
