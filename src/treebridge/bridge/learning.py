"""A bridge that learns: an update of its map and translation, with gradients to the vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from treebridge.bridge.bridge import Bridge


class LearningBridge(nn.Module):
    """The update is initially zero and applies behind the map, so mapped vectors can be kept."""

    means: Tensor
    w: Tensor
    translation: Tensor

    def __init__(self, bridge: Bridge):
        super().__init__()
        dim = len(bridge.w)
        self.change = nn.Parameter(torch.zeros(dim, dim))
        self.shift = nn.Parameter(torch.zeros(dim))
        fixed = {
            "means": bridge.target.isotropy.means,
            "w": bridge.w,
            "translation": bridge.translation,
        }
        for name, array in fixed.items():
            self.register_buffer(name, torch.tensor(array, dtype=torch.float32), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors of the target encoder → the parser's space, with the update."""
        return self.update(isotropic(vectors, self.means) @ self.w.T + self.translation)

    def update(self, mapped: Tensor) -> Tensor:
        """Apply the update to vectors that the bridge has mapped."""
        return mapped + (mapped @ self.change.T + self.shift)

    def merged(self, bridge: Bridge) -> Bridge:
        """The bridge with the update in its map and translation."""
        change, shift = (
            update.detach().cpu().numpy().astype(np.float64) for update in (self.change, self.shift)
        )
        return replace(
            bridge,
            w=bridge.w + change @ bridge.w,
            translation=bridge.translation + change @ bridge.translation + shift,
            made={**bridge.made, "refined": True},
        )


def isotropic(vectors: Tensor, means: Tensor) -> Tensor:
    """Apply a fitted isotropy, with gradients."""
    for mean in means:
        vectors = normalize(vectors - mean, dim=-1)
    return vectors
