"""What people see of a model's folder."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from treebridge.recipes.inspect import ModelInfo
from treebridge.show.words import megabytes


def show_model(model: ModelInfo) -> None:
    """The model card."""
    console = Console(highlight=False)
    console.print(Markdown(model.card or "This model has no card."))
    console.print(f"\n{model.folder}: {megabytes(model.size)}")


def as_dict(model: ModelInfo) -> dict[str, Any]:
    """What its config says, as `--json` prints it."""
    return {"kind": "model", "folder": str(model.folder), "size": model.size, **model.config}
