"""`treebridge models`: what comes with the package."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from treebridge.models import shipped_models


def show_models() -> None:
    """Print name, language, best score, size and licence of each shipped model."""
    models = shipped_models()
    if not models:
        print("no model is shipped with this version; `treebridge build` makes one")
        return
    grid = Table(
        "model", "language", "UAS", "LAS", "scored on", "tags", "size", "licence", box=None
    )
    for model in models.values():
        card = model.card
        best = max(card["scores"], key=lambda score: score["LAS"])
        grid.add_row(
            model.name,
            card["language"],
            f"{best['UAS']:.1f}",
            f"{best['LAS']:.1f}",
            best["file"],
            best["tags"],
            f"{model.size / 1e6:.1f} MB",
            card["licence"],
        )
    Console(highlight=False, soft_wrap=True).print(grid)
    name = next(iter(models))
    print(f'\ntreebridge parse --model {name} "{models[name].card["examples"][0]}"')
