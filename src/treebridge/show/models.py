"""`treebridge models`: the models shipped with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from treebridge.parse.shipped import shipped_models
from treebridge.show.words import megabytes

if TYPE_CHECKING:  # listing models needs no torch
    from treebridge.recipes.pack import Packed


def show_models() -> None:
    """Print name, language, best score, size and licence of each shipped model."""
    models = shipped_models()
    if not models:
        print("no models are shipped with this version; make one with `treebridge build`")
        return
    grid = Table(
        "model",
        "language",
        "UAS",
        "LAS",
        "UPOS",
        "scored on",
        "size",
        "licence",
        box=None,
        pad_edge=False,
    )
    for model in models.values():
        card = model.card
        best = model.best
        grid.add_row(
            model.name,
            card["language"],
            f"{best['UAS']:.1f}",
            f"{best['LAS']:.1f}",
            f"{best['UPOS']:.1f}" if "UPOS" in best else "",
            best["file"] + ("" if best["tags"] == "predicted" else f", {best['tags']} tags"),
            megabytes(model.size),
            card["licence"],
        )
    Console(highlight=False, soft_wrap=True).print(grid)
    name = next(iter(models))
    print(f'\ntreebridge parse --model {name} "{models[name].card["examples"][0]}"')


def show_packed(packed: Packed) -> None:
    """Print the folder and its size."""
    print(f"{packed.folder}: {megabytes(packed.size)}")
