"""Training checkpoints: an interrupted run resumes and ends in the same weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from treebridge.errors import warn_damaged
from treebridge.parse.metrics import Metrics, write_metrics
from treebridge.state import fits, optimizer_fits, read_state, write_state

Weights = dict[str, Tensor]


@dataclass
class Checkpoint:
    """The state after an epoch."""

    key: str  # hash of settings and data; checkpoints with another key are ignored
    weights: Weights
    optimizer: dict[str, Any]
    best: Weights
    history: list[Metrics] = field(default_factory=list)  # one entry per epoch

    def write(self, folder: Path) -> None:
        """Replace the previous checkpoint atomically."""
        write_state(folder / "last.pt", vars(self))
        write_metrics(folder / "metrics.jsonl", self.history)


def copy_weights(model: nn.Module) -> Weights:
    """A copy of the current weights on the CPU."""
    return {name: weight.detach().cpu().clone() for name, weight in model.state_dict().items()}


def resume(
    folder: Path | None, key: str, model: nn.Module, optimizer: Optimizer, *, judged_by: str
) -> Checkpoint | None:
    """Load the folder's checkpoint with this key, if any, and restore model and optimizer.

    Every epoch of its history must have the metric `judged_by`. A damaged checkpoint is ignored:
    training starts over and ends in the same weights.
    """
    content = read_state(folder / "last.pt") if folder else None
    if folder is None or content is None or content.get("key") != key:
        return None
    if problem := _misfit(content, model, optimizer, judged_by):
        warn_damaged(folder / "last.pt", problem)
        return None
    state = Checkpoint(**content)
    model.load_state_dict(state.weights)
    optimizer.load_state_dict(state.optimizer)
    return state


def _misfit(
    content: Mapping[str, Any], model: nn.Module, optimizer: Optimizer, judged_by: str
) -> str | None:
    if set(content) != {field.name for field in fields(Checkpoint)}:
        return "not a parser checkpoint"
    if not all(fits(content[name], model) for name in ("weights", "best")):
        return "its weights do not fit this parser"
    if not optimizer_fits(content["optimizer"], optimizer):
        return "its optimizer state does not fit this run"
    history = content["history"]
    if not isinstance(history, list) or not all(
        isinstance(entry, dict)
        and judged_by in entry
        and all(isinstance(figure, (int, float)) for figure in entry.values())
        for entry in history
    ):
        return "its history is invalid"
    return None
