"""A bidirectional LSTM layer for sentences of different lengths."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(nn.LSTM):
    """A bidirectional LSTM that ignores padding in both directions."""

    def __init__(self, size: int, hidden: int):
        super().__init__(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """[batch, n, size] → [batch, n, 2·hidden]; longest sentence first, lengths on the CPU."""
        fast = self.training and x.device.type == "cpu"
        return self.padded(x, lengths) if fast else self.packed(x, lengths)

    def packed(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Torch's packed sequences: fast on a GPU, and in batches of very different lengths."""
        words = pack_padded_sequence(x, lengths, batch_first=True)
        return pad_packed_sequence(super().forward(words)[0], batch_first=True)[0]

    def padded(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Padded sequences: faster for training on a CPU, where oneDNN does not support packing.

        The second direction reads reversed sentences, so that padding comes last there too.
        """
        batch, n, _ = x.shape
        places, ends = torch.arange(n), lengths[:, None]
        past = places >= ends  # [batch, n]
        turned = torch.where(past, places, ends - 1 - places)
        turned = (turned + n * torch.arange(batch)[:, None]).flatten()  # [batch·n]
        forwards = self._one_way(x, 0)  # [batch, n, hidden]
        backwards = self._one_way(x.flatten(0, 1)[turned].view_as(x), 1)
        backwards = backwards.flatten(0, 1)[turned].view_as(forwards)
        return torch.cat([forwards, backwards], -1).masked_fill(past.unsqueeze(-1), 0)

    def _one_way(self, x: Tensor, direction: int) -> Tensor:
        start = x.new_zeros(1, len(x), self.hidden_size)
        weights: list[Tensor] = self.all_weights[direction]  # type: ignore[assignment]
        states: Tensor = torch.lstm(
            x, (start, start), weights, True, 1, 0.0, self.training, False, True
        )[0]
        return states
