"""What an interrupted training needs in order to go on as if nothing had happened."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from treebridge.checkpoints import write_checkpoint
from treebridge.writing import write_file

Weights = dict[str, Tensor]
Metrics = dict[str, float]


@dataclass
class Checkpoint:
    """The state after an epoch."""

    key: str  # of settings and data: another run's checkpoint is not taken
    weights: Weights
    optimizer: dict[str, Any]
    best: Weights
    history: list[Metrics] = field(default_factory=list)  # one entry an epoch

    def write(self, folder: Path) -> None:
        """Write it in the place of the one before, whole or not at all."""
        write_checkpoint(folder / "last.pt", vars(self))
        write_metrics(folder / "metrics.jsonl", self.history)


def copy_weights(model: nn.Module) -> Weights:
    """The weights as they are now, on the CPU."""
    return {name: weight.detach().cpu().clone() for name, weight in model.state_dict().items()}


def read_checkpoint(folder: Path, key: str) -> Checkpoint | None:
    """The checkpoint of this very training, if there is one."""
    try:
        content = torch.load(folder / "last.pt", map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError):
        return None
    return Checkpoint(**content) if content.get("key") == key else None


def read_metrics(path: Path) -> list[Metrics]:
    """What `write_metrics` wrote; nothing where there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_metrics(path: Path, history: list[Metrics]) -> None:
    """One line of JSON an epoch."""
    write_file(path, "".join(json.dumps(entry) + "\n" for entry in history))
