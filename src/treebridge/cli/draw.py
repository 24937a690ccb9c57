"""`treebridge draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treebridge.cli.app import command, note
from treebridge.cli.options import OUTPUT, Force, option


@command("draw", "treebridge draw trees.conllu -o trees.html")
def draw(
    files: Annotated[
        list[str] | None, typer.Argument(help="CoNLL-U (default: standard input).")
    ] = None,
    output: Annotated[
        Path | None,
        option("File, or folder for several SVGs; its ending sets the format.", "-o", "--output",
               panel=OUTPUT),
    ] = None,
    picture: Annotated[
        Literal["text", "svg", "html"] | None,
        option("Output format.", "--format", panel=OUTPUT, show_default="by the output's name"),
    ] = None,
    force: Force = False,
    sentences: Annotated[
        str | None, option("Draw only these sentences, counted from 1: 3, or 3-5.")
    ] = None,
) -> None:  # fmt: skip
    """Draw the trees of CoNLL-U; arcs of which the parser was unsure are dashed."""
    from treebridge.locks import hold
    from treebridge.show.draw import draw_files

    with hold(output):
        draw_files(files or ["-"], output, picture, sentences, force=force)
    if output is not None:
        note(f"wrote {output}")
