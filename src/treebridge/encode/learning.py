"""An encoder whose weights learn: what `refine` and `train` tune, and how it is saved."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from treebridge.encode.encoder import Encoder, Words
from treebridge.encode.hub import copy_encoder, weight_files
from treebridge.encode.models import Model, load_whole
from treebridge.encode.pieces import windows
from treebridge.encode.settings import TuneSettings
from treebridge.encode.transformer import TransformerEncoder
from treebridge.errors import TreebridgeError
from treebridge.precision import half_precision

LARGE = 50_000_000  # weights from which activations are recomputed to save memory
NARROW = 256  # dimensions; wider networks need smaller steps (BERT-base: 5e-5)
TUNED = " (tuned)"
_LAYER = re.compile(r"\blayers?\.(\d+)\.")


def can_learn(encoder: Encoder) -> bool:
    """Whether an encoder is a network in torch; packed ones and word vectors are not."""
    return isinstance(encoder, TransformerEncoder) and isinstance(encoder.model, Model)


class LearningEncoder(nn.Module):
    """A copy of an encoder, with gradients; the encoder itself stays as it is."""

    def __init__(self, encoder: Encoder, settings: TuneSettings):
        super().__init__()
        if not (isinstance(encoder, TransformerEncoder) and isinstance(encoder.model, Model)):
            raise TreebridgeError(
                f"the encoder {encoder.name!r} cannot learn: it is packed, in ONNX, or a file of "
                "word vectors; use the one that it was made from, or leave it as it is"
            )
        model = encoder.model
        self.origin, self.settings = encoder, settings
        self.network = copy.deepcopy(model.network).float().requires_grad_(True)
        for module in self.network.modules():
            if isinstance(module, nn.Dropout):
                module.p = settings.dropout
        own = Model(self.network, model.layers, model.device, torch.float32)
        self.reader = TransformerEncoder(encoder.name, encoder.cutter, own, encoder.settings)
        half = half_precision(model.device, model.dim)
        # With 16 bits of another kind small gradients would vanish.
        self._model, self._half = own, half if half == torch.bfloat16 else None
        if model.device == "cpu":
            self.network.set_attn_implementation("eager")  # type: ignore[operator] # faster in bf16
        if sum(weight.numel() for weight in self.parameters()) > LARGE:
            self.network.gradient_checkpointing_enable()  # type: ignore[operator]

    def forward(self, sentences: Sequence[Words]) -> tuple[Tensor, Tensor]:
        """Unit vectors of all words [words, dim], and the row of each word [batch, n]; −1 pads."""
        cutter = self.reader.cutter
        parts = [
            window
            for index, pieces in enumerate(cutter.cut(sentences))
            for window in windows(index, pieces, cutter.room, cutter.specials)
        ]
        device = self._model.device
        with torch.autocast(device, self._half, enabled=self._half is not None):
            rows = self._model.pooled(*self.reader.arrays(parts))
        places = np.full((len(sentences), max(map(len, sentences))), -1, np.int64)
        before = 0
        for window in parts:  # a word in several windows is taken from the one that keeps it
            kept = slice(window.keep_from, window.keep_to)
            first = before - window.first
            places[window.sentence, kept] = np.arange(first + kept.start, first + kept.stop)
            before += len(window.pieces)
        return rows, torch.from_numpy(places).to(device)

    def groups(self) -> list[dict[str, Any]]:
        """Weights with their learning rates: each layer learns slower than the one above it."""
        numbers = {name: _LAYER.search(name) for name, _ in self.network.named_parameters()}
        top = 1 + max((int(found[1]) for found in numbers.values() if found), default=0)
        groups: dict[int, list[nn.Parameter]] = {}
        for name, weight in self.network.named_parameters():
            found = numbers[name]
            depth = 1 + int(found[1]) if found else 0 if "embed" in name else top
            groups.setdefault(top - depth, []).append(weight)
        rate = self.settings.rate * (NARROW / max(NARROW, self._model.dim)) ** 2
        return [
            {"params": weights, "lr": rate * self.settings.layer_decay**below}
            for below, weights in sorted(groups.items())
        ]

    def frozen(self) -> TransformerEncoder:
        """The encoder with the weights as they are now, in a folder that lives as long as it."""
        home = TemporaryDirectory(prefix="treebridge-")
        folder = Path(home.name) / "encoder"
        save_tuned(self.origin.folder, self.network, folder)
        encoder = TransformerEncoder.from_name(str(folder), self.origin.settings)
        name = self.origin.name
        encoder.name = name if name.endswith(TUNED) else name + TUNED
        encoder.home = home
        return encoder


def padded(rows: Tensor, places: Tensor) -> Tensor:
    """Sentences side by side: [words, dim] and [batch, n] → [batch, n, dim], zeros past the end."""
    return rows[places.clamp(min=0)] * (places >= 0).unsqueeze(-1)


def peaks(optimizer: torch.optim.Optimizer) -> list[float]:
    """The learning rates that an optimizer was made with."""
    return [float(group["lr"]) for group in optimizer.param_groups]


def save_tuned(origin: Path, network: nn.Module, folder: Path) -> None:
    """Write a folder like `origin` with the weights of a network that was loaded from it."""
    copy_encoder(origin, folder)
    config = (folder / "config.json").read_bytes()
    for name in weight_files(folder):
        (folder / name).unlink()
    whole, missing = load_whole(origin)
    inner = whole.get_encoder() if whole.config.is_encoder_decoder else whole
    inner.load_state_dict(network.state_dict())
    whole.to(getattr(whole.config, "dtype", None) or torch.float32)
    # Weights that the checkpoint lacks, such as BERT's pooler, are random and never used.
    weights = {name: x for name, x in whole.state_dict().items() if name not in missing}
    whole.save_pretrained(str(folder), state_dict=weights)
    (folder / "config.json").write_bytes(config)
