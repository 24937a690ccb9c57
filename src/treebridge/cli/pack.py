"""`treebridge pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, show


@command("pack", "treebridge pack es -o packed/es --card es.toml")
def pack(
    folder: Annotated[
        Path, typer.Argument(help="Model made by `build` or `refine`, or an encoder.")
    ],
    output: Annotated[Path, opt.output_option("Folder for the packed model.")],
    force: opt.Force = False,
    card: Annotated[Path | None, opt.option("Contents of the model card (TOML).")] = None,
    bits: Annotated[int, opt.option("Bits per weight, 4 to 7; fewer make a smaller model.")] = 7,
) -> None:
    """Pack a model for use without torch: small, fast and self-contained."""
    from treebridge.recipes.pack import pack as pack_folder
    from treebridge.show.models import show_packed

    show(show_packed, pack_folder(folder, output, card, bits=bits, force=force))
