"""Checkpoints of torch on disk."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from treebridge.writing import write_file


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write what torch can save, whole or not at all."""
    # Into memory first: when torch writes a file itself, it does not say that the disk is full.
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_file(path, buffer.getvalue())
