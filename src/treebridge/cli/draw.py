"""`treebridge draw`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import Force


class Picture(str, Enum):
    """What `draw` makes."""

    text = "text"
    svg = "svg"
    html = "html"


@app.command()
def draw(
    files: Annotated[
        list[str] | None, typer.Argument(help="CoNLL-U; - or nothing: standard input.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A file, or for svg a folder; its name tells which."),
    ] = None,
    picture: Annotated[
        Picture | None, typer.Option("--format", help="text, svg or html; text if nothing tells.")
    ] = None,
    sentences: Annotated[
        str | None, typer.Option(help="Only these, counted from 1: 3, or 3-5.")
    ] = None,
    force: Force = False,
) -> None:
    """Draw the trees of CoNLL-U; where a parser was unsure, the arc is dashed."""
    from treebridge.locks import hold
    from treebridge.show.draw import draw_files

    kind = picture.value if picture else None
    with hold(output):
        draw_files(files or ["-"], output, kind, sentences, force=force)
