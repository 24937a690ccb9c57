"""Training checkpoints on disk, written atomically and checked for damage when read."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from treebridge.errors import first_line, warn_damaged
from treebridge.writing import write_file


def write_state(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint atomically, replacing the previous one."""
    # Via memory, because torch does not report a full disk when it writes a file itself.
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_file(path, buffer.getvalue())


def read_state(path: Path) -> dict[str, Any] | None:
    """Read a checkpoint that `write_state` wrote; None if it is missing or damaged."""
    if not path.exists():
        return None
    try:
        with zipfile.ZipFile(path) as file:  # torch writes checksums but does not verify them
            damaged = file.testzip()
        if damaged is not None:
            raise ValueError(f"wrong checksum of {damaged}")
        content = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__} instead of a dict")
    except (OSError, ValueError, RuntimeError, EOFError, KeyError, NotImplementedError,
            pickle.UnpicklingError, zipfile.BadZipFile) as error:  # fmt: skip
        warn_damaged(path, first_line(error))
        return None
    return content


def fits(weights: object, model: nn.Module) -> bool:
    """Whether weights match the model in names, shapes and types."""
    expected = model.state_dict()
    return (
        isinstance(weights, dict)
        and weights.keys() == expected.keys()
        and all(_alike(weights[name], weight) for name, weight in expected.items())
    )


def optimizer_fits(state: object, optimizer: Optimizer) -> bool:
    """Whether a state matches the optimizer in groups and shapes."""
    expected = optimizer.state_dict()
    if not isinstance(state, dict) or state.keys() != expected.keys():
        return False
    groups, moments = state["param_groups"], state["state"]
    if not isinstance(groups, list) or not isinstance(moments, dict):
        return False
    if len(groups) != len(expected["param_groups"]) or not all(
        isinstance(ours, dict)
        and {"params", "lr", "betas", "eps"} <= ours.keys()  # other keys depend on torch's version
        and ours["params"] == theirs["params"]
        for ours, theirs in zip(groups, expected["param_groups"], strict=True)
    ):
        return False
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    return all(
        isinstance(number, int)
        and 0 <= number < len(weights)
        and isinstance(moment, dict)
        and all(
            isinstance(x, Tensor) and x.shape in (weights[number].shape, torch.Size([]))
            for x in moment.values()
        )
        for number, moment in moments.items()
    )


def _alike(found: object, expected: Tensor) -> bool:
    return (
        isinstance(found, Tensor)
        and found.shape == expected.shape
        and found.dtype == expected.dtype
    )
