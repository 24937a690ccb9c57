"""`treebridge draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, note
from treebridge.cli.options import OUTPUT, option


@command("draw", "treebridge draw trees.conllu -o trees.html")
def draw(
    files: Annotated[
        list[str] | None, typer.Argument(help="CoNLL-U files (default: standard input).")
    ] = None,
    output: Annotated[
        Path | None,
        opt.output_option("Output file, or folder for several SVGs; its extension sets the "
                          "format."),
    ] = None,
    picture: Annotated[
        Literal["text", "svg", "html"] | None,
        option("Output format.", "--format", panel=OUTPUT,
               show_default="from the file extension, otherwise text"),
    ] = None,
    force: opt.Force = False,
    sentences: Annotated[
        str | None,
        option("Sentences to draw, counted from 1: 3, or 3-5.", show_default="all"),
    ] = None,
    columns: Annotated[
        str | None,
        option("Columns to show beside the tags, separated by commas: lemma, xpos, feats.",
               panel=OUTPUT, show_default="none"),
    ] = None,
) -> None:  # fmt: skip
    """Draw trees from CoNLL-U; arcs the parser was unsure of are dashed."""
    from treebridge.locks import hold
    from treebridge.show.draw import draw_files

    with hold(output):
        draw_files(
            files or ["-"], output, picture, sentences, columns=opt.parts(columns), force=force
        )
    if output is not None:
        note(f"wrote {output}")
