"""A model folder on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from treebridge.recipes.inspect import ModelInfo
from treebridge.show.words import megabytes


def show_model(model: ModelInfo) -> None:
    """Print the model card and the size of the folder."""
    console = Console(highlight=False)
    console.print(Markdown(model.card or "This model has no card."))
    console.print(f"\n{model.folder}: {megabytes(model.size)}")


def as_dict(model: ModelInfo) -> dict[str, Any]:
    """The model's config, as printed by `--json`; `projected` and `forecast` may be null."""
    facts = {"kind": "model", "folder": str(model.folder), "size": model.size}
    return {**facts, "projected": None, "forecast": None, **model.config}
