"""Models that come with the package: a folder each, beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treebridge.errors import TreebridgeError
from treebridge.records import field, read_record

SHIPPED = Path(__file__).parent


@dataclass(frozen=True)
class Shipped:
    """A model of the package, and what its card says."""

    name: str
    folder: Path
    card: dict[str, Any]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


def shipped_models() -> dict[str, Shipped]:
    """Name → model."""
    found = {}
    for config in sorted(SHIPPED.glob("*/config.json")):
        folder = config.parent
        card = field({"card": {}, **read_record(config)}, "card", dict, config)
        found[folder.name] = Shipped(folder.name, folder, card)
    return found


def find_model(name: str) -> str:
    """The folder behind `--model`: one that is there, or a shipped model by its name."""
    if Path(name).exists() or "/" in name or "\\" in name:
        return name
    shipped = shipped_models()
    if name not in shipped:
        known = f"shipped are {', '.join(shipped)}" if shipped else "none is shipped"
        raise TreebridgeError(
            f"there is no such folder, nor a shipped model of that name ({known}); "
            "`treebridge build` makes one",
            file=name,
        )
    return str(shipped[name].folder)
