"""Artefact folders: config.json, *.safetensors and a model card; no pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.checksums import Noted, find_damage, note_files, sealed
from treebridge.errors import TreebridgeError, first_line, with_article
from treebridge.records import FIX, check_seal, field, read_record

Tensors = Mapping[str, NDArray[Any]]
Shape = tuple[int | None, ...]


def write_config(
    folder: Path, kind: str, version: int, config: Mapping[str, Any], files: Iterable[str] = ()
) -> None:
    """Write config.json with kind, format version and checksums of `files`, which must exist."""
    content = {"treebridge": kind, "format": version, **config, "files": note_files(folder, files)}
    text = json.dumps(sealed(content), indent=2, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def read_config(folder: str | Path, kind: str, version: int) -> dict[str, Any]:
    """Read config.json; refuse other kinds of folders, newer formats and damaged files."""
    folder = Path(folder)
    if not folder.is_dir():
        raise TreebridgeError(f"folder not found; expected {with_article(kind)}", file=folder)
    path = folder / "config.json"
    if not path.exists():
        message = f"expected {with_article(kind)}, found a folder without config.json"
        raise TreebridgeError(message, file=folder)
    config = read_record(path, verify=False)
    if config.get("treebridge") != kind:
        other = config.get("treebridge")
        found = with_article(str(other)) if other else "a folder not made by treebridge"
        raise TreebridgeError(f"expected {with_article(kind)}, found {found}", file=folder)
    if (written := field(config, "format", int, path)) > version:
        raise TreebridgeError(
            f"this {kind} has format {written}, but this treebridge reads formats up to {version}; "
            "update treebridge",
            file=folder,
        )
    check_seal(config, path)
    return config


def check_files(folder: Path, config: Mapping[str, Any], *, only_sizes: str = "") -> None:
    """Refuse a folder whose files do not match the checksums in its config.json.

    Files whose names start with `only_sizes` are compared by size only. Folders written before
    checksums were introduced list no files.
    """
    noted: Noted = config.get("files", {})
    hashed = {
        name: note
        for name, note in noted.items()
        if not only_sizes or not name.startswith(only_sizes)
    }
    damage = find_damage(folder, noted, contents=False) or find_damage(folder, hashed)
    if damage:
        kind = config.get("treebridge")
        raise TreebridgeError(
            f"this {kind} is damaged or mixed with another: {damage}; {FIX}", file=folder
        )


def kind_of_folder(folder: Path) -> str | None:
    """Return the kind stated in a folder's config.json; None if treebridge did not make it."""
    try:
        return str(json.loads((folder / "config.json").read_text(encoding="utf-8"))["treebridge"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write arrays as safetensors."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, str(path))


def read_tensors(path: Path, shapes: Mapping[str, Shape] | None = None) -> dict[str, NDArray[Any]]:
    """Read arrays from safetensors.

    With `shapes`, the file must hold exactly these arrays, of finite floats; None is any length.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = dict(load_file(str(path)))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        message = f"cannot be read ({first_line(error)}); {FIX}"
        raise TreebridgeError(message, file=path) from None
    if shapes is not None:
        check_tensors(path, tensors, shapes)
    return tensors


def check_tensors(path: Path, tensors: Tensors, shapes: Mapping[str, Shape]) -> None:
    """Raise an error unless these are exactly the arrays, of finite floats; None is any length."""
    if problem := _misfit(tensors, shapes):
        message = f"{problem}, so config.json and {path.name} do not belong together; {FIX}"
        raise TreebridgeError(message, file=path)


def _misfit(tensors: Tensors, shapes: Mapping[str, Shape]) -> str | None:
    """Describe the first array that does not match its shape; None if all match."""
    for name in sorted(set(shapes) ^ set(tensors)):
        return f"the tensor {name} is {'missing' if name in shapes else 'unknown'}"
    for name, shape in shapes.items():
        array = tensors[name]
        fits = array.ndim == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = "×".join("n" if size is None else str(size) for size in shape)
            found = "×".join(map(str, array.shape)) or "a scalar"
            return f"the tensor {name} is {found} instead of {wanted}"
        if array.dtype.kind != "f":
            return f"the tensor {name} has type {array.dtype} instead of floats"
        if not np.isfinite(array).all():
            return f"the tensor {name} has values that are not finite"
    return None
