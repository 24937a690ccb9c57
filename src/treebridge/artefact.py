"""Folders that hold what was made: config.json, *.safetensors, a model card. No pickle."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.errors import TreebridgeError

Tensors = Mapping[str, NDArray[Any]]


def check_free(path: str | Path, kind: str, *, force: bool = True) -> None:
    """Refuse a place where something else stands; for long work, ask before it begins."""
    path = Path(path)
    if not path.exists():
        return
    if not force:
        raise TreebridgeError("this folder is there already; --force writes over it", file=path)
    if not path.is_dir() or (any(path.iterdir()) and _kind(path) != kind):
        raise TreebridgeError(f"this is there already and is no {kind}; name another", file=path)


@contextmanager
def new_folder(path: str | Path, kind: str, *, force: bool = True) -> Iterator[Path]:
    """A folder to fill; it takes its place, or an older one's, when the block ends well."""
    path = Path(path)
    check_free(path, kind, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield made
        made.chmod(0o755)
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            path.replace(old / "old")
            made.replace(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            made.replace(path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


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


def _kind(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / "config.json").read_text(encoding="utf-8"))["treebridge"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
