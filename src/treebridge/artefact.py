"""Folders that hold what was made: config.json, *.safetensors, a model card. No pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.checksums import Noted, find_damage, note_files, sealed
from treebridge.errors import TreebridgeError, first_line
from treebridge.records import FIX, check_seal, field, read_record

Tensors = Mapping[str, NDArray[Any]]
Shape = tuple[int | None, ...]


def write_config(
    folder: Path, kind: str, version: int, config: Mapping[str, Any], files: Iterable[str] = ()
) -> None:
    """Write config.json: what the folder is, in which format, and the checksums of its files.

    The files must be there, so this comes last.
    """
    content = {"treebridge": kind, "format": version, **config, "files": note_files(folder, files)}
    text = json.dumps(sealed(content), indent=2, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def read_config(folder: str | Path, kind: str, version: int) -> dict[str, Any]:
    """Read config.json; refuse another kind of folder, a newer format, and what is damaged."""
    folder = Path(folder)
    if not folder.is_dir():
        raise TreebridgeError(f"there is no such folder, and so no {kind}", file=folder)
    path = folder / "config.json"
    if not path.exists():
        message = f"this folder is no {kind} but something else: it has no config.json"
        raise TreebridgeError(message, file=folder)
    config = read_record(path, verify=False)
    if config.get("treebridge") != kind:
        found = f"a {config['treebridge']}" if "treebridge" in config else "something else"
        raise TreebridgeError(f"this folder is no {kind} but {found}", file=folder)
    if (written := field(config, "format", int, path)) > version:
        raise TreebridgeError(
            f"this {kind} has format {written}, this treebridge reads up to {version}; "
            "update treebridge",
            file=folder,
        )
    check_seal(config, path)
    return config


def check_files(folder: Path, config: Mapping[str, Any], *, only_sizes: str = "") -> None:
    """Refuse a folder whose files are not those that its config.json names.

    Of files below `only_sizes` the content is left to others. Folders from before there were
    checksums name none.
    """
    noted: Noted = config.get("files", {})
    read = {
        name: note
        for name, note in noted.items()
        if not only_sizes or not name.startswith(only_sizes)
    }
    damage = find_damage(folder, noted, contents=False) or find_damage(folder, read)
    if damage:
        kind = config.get("treebridge")
        raise TreebridgeError(
            f"this {kind} is damaged or has files of another one: {damage}; {FIX}", file=folder
        )


def kind_of_folder(folder: Path) -> str | None:
    """What a folder holds, by its config.json; None if it is nothing of ours."""
    try:
        return str(json.loads((folder / "config.json").read_text(encoding="utf-8"))["treebridge"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write arrays as safetensors."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, str(path))


def read_tensors(path: Path, shapes: Mapping[str, Shape] | None = None) -> dict[str, NDArray[Any]]:
    """Read arrays from safetensors; a damaged file is named.

    With `shapes`, they must be these arrays and no others, of finite floats; None is any length.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = dict(load_file(str(path)))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        message = f"cannot be read ({first_line(error)}); {FIX}"
        raise TreebridgeError(message, file=path) from None
    if shapes is not None and (problem := _misfit(tensors, shapes)):
        message = f"{problem}, so config.json and {path.name} do not belong together; {FIX}"
        raise TreebridgeError(message, file=path)
    return tensors


def _misfit(tensors: Tensors, shapes: Mapping[str, Shape]) -> str | None:
    """What is wrong with the first of the arrays that is."""
    for name in sorted(set(shapes) ^ set(tensors)):
        return f"the tensor {name} is {'missing' if name in shapes else 'unknown'}"
    for name, shape in shapes.items():
        array = tensors[name]
        fits = array.ndim == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = "×".join("n" if size is None else str(size) for size in shape)
            found = "×".join(map(str, array.shape)) or "a number"
            return f"the tensor {name} is {found} instead of {wanted}"
        if array.dtype.kind != "f":
            return f"the tensor {name} has numbers of type {array.dtype} instead of floats"
        if not np.isfinite(array).all():
            return f"the tensor {name} has numbers that are not finite"
    return None
