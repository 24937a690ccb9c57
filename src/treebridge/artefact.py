"""Folders that hold what was made: config.json, *.safetensors, a model card. No pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.errors import TreebridgeError

Tensors = Mapping[str, NDArray[Any]]


def write_config(folder: Path, kind: str, version: int, config: Mapping[str, Any]) -> None:
    """Write config.json, with what the folder is and in which format."""
    content = {"treebridge": kind, "format": version, **config}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def read_config(folder: str | Path, kind: str, version: int) -> dict[str, Any]:
    """Read config.json; refuse another kind of folder and a format newer than ours."""
    folder = Path(folder)
    if not folder.is_dir():
        raise TreebridgeError(f"there is no such folder, and so no {kind}", file=folder)
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        config = {}
    if config.get("treebridge") != kind:
        found = f"a {config['treebridge']}" if "treebridge" in config else "something else"
        raise TreebridgeError(f"this folder is no {kind} but {found}", file=folder)
    if config["format"] > version:
        raise TreebridgeError(
            f"this {kind} has format {config['format']}, this treebridge reads up to {version}; "
            "update treebridge",
            file=folder,
        )
    return config


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write arrays as safetensors."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, str(path))


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read arrays from safetensors; a damaged file is named."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return dict(load_file(str(path)))
    except (OSError, SafetensorError) as error:
        raise TreebridgeError(f"cannot be read ({error}); make it again", file=path) from None
