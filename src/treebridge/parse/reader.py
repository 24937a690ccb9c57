"""A source encoder that learns together with the parser, behind the isotropy of its space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from treebridge.bridge.learning import isotropic
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder, Words
from treebridge.encode.learning import LearningEncoder, padded
from treebridge.encode.settings import TuneSettings
from treebridge.encode.store import MemoryStore
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import Batch


class Reader(nn.Module):
    """Words in, vectors of a space out; the means of the space stay as they were fitted."""

    means: Tensor

    def __init__(self, encoder: Encoder, space: Space, settings: TuneSettings | None = None):
        super().__init__()
        self.encoder = LearningEncoder(encoder, settings or TuneSettings())
        means = torch.tensor(space.isotropy.means, dtype=torch.float32)
        self.register_buffer("means", means, persistent=False)

    def groups(self) -> list[dict[str, Any]]:
        """Weights with their peak learning rates."""
        return self.encoder.groups()

    def read(self, batch: Batch, sentences: Sequence[Words]) -> Batch:
        """A batch with vectors of the encoder as it is now."""
        rows, places = self.encoder(sentences)
        return batch._replace(vectors=padded(isotropic(rows, self.means), places))

    def reread(self, examples: Examples) -> Examples:
        """Examples with vectors of the encoder as it is now."""
        self.encoder.eval()
        encoded = self.encoder.reader.encode(examples.words)
        return replace(examples, store=MemoryStore([item.vectors for item in encoded]))
