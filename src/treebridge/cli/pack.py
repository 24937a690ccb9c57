"""`treebridge pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import command, show
from treebridge.cli.options import OUTPUT, Force, option


@command("pack", "treebridge pack es -o packed/es --card es.toml")
def pack(
    folder: Annotated[
        Path, typer.Argument(help="Model that `build` or `refine` made, or encoder.")
    ],
    output: Annotated[Path, option("Folder for the packed model.", "-o", "--output", panel=OUTPUT)],
    force: Force = False,
    card: Annotated[Path | None, option("Model card of a model to be shipped (TOML).")] = None,
    bits: Annotated[int, option("Bits per weight, 4 to 7; fewer make a smaller file.")] = 7,
) -> None:
    """Pack a model for use without torch, or an encoder: small, fast, self-contained."""
    from treebridge.recipes.pack import pack as pack_folder
    from treebridge.show.models import show_packed

    show(show_packed, pack_folder(folder, output, card, bits=bits, force=force))
