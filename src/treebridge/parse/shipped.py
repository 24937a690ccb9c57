"""Models by name: those that come with the package, and folders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treebridge.errors import TreebridgeError

SHIPPED = Path(__file__).resolve().parents[1] / "models"


@dataclass(frozen=True)
class Shipped:
    """A model of the package, and what its card says."""

    name: str
    folder: Path
    card: dict[str, Any]

    @property
    def size(self) -> int:
        """In bytes."""
        return folder_size(self.folder)

    @property
    def best(self) -> dict[str, Any]:
        """Its best scores, and on which file."""
        return best_scores(self.card)

    def __repr__(self) -> str:
        return (
            f"Shipped({self.name}, {self.card['language']}, LAS {self.best['LAS']:.1f}, "
            f"{self.size / 1e6:.0f} MB)"
        )


def best_scores(card: dict[str, Any]) -> dict[str, Any]:
    """The entry of a model card with the highest LAS."""
    scores: list[dict[str, Any]] = card["scores"]
    return max(scores, key=lambda entry: float(entry["LAS"]))


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def shipped_models() -> dict[str, Shipped]:
    """The models that come with the package, by name."""
    found = {}
    for config in sorted(SHIPPED.glob("*/config.json")):
        folder = config.parent
        card = json.loads(config.read_text(encoding="utf-8")).get("card", {})
        found[folder.name] = Shipped(folder.name, folder, card)
    return found


def find_model(name: str | Path) -> Path:
    """The folder of a model: one that is there, or a shipped model by its name."""
    folder, text = Path(name), str(name)
    shipped = shipped_models() if not folder.exists() else {}
    if text in shipped:
        return shipped[text].folder
    if not folder.exists():
        known = f"shipped are {', '.join(shipped)}" if shipped else "none is shipped"
        raise TreebridgeError(
            f"no such folder, and no shipped model of that name ({known}); `treebridge build` "
            "makes one",
            file=text,
        )
    _check_kind(folder)
    return folder


def _check_kind(folder: Path) -> None:
    """Say what else was given as a model, where it is something that people mix up with one."""
    if folder.is_file():
        raise TreebridgeError("expected a model folder, found a file", file=folder)
    config = folder / "config.json"
    if not config.exists():
        inside = [path.parent for path in sorted(folder.glob("*/parser.safetensors"))]
        hint = f"; did you mean {inside[0]}?" if inside else "; treebridge train makes one"
        raise TreebridgeError(f"there is no parser in this folder{hint}", file=folder)
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # loading says what is wrong
    if not isinstance(content, dict):
        return
    if content.get("treebridge") == "bridge":
        raise TreebridgeError("expected a parser, found a bridge into one", file=folder)
    if "model_type" in content:
        raise TreebridgeError(
            "expected a parser, found an encoder; `treebridge train` makes a parser with it",
            file=folder,
        )
