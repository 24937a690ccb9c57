"""The command `treebridge` itself, to which every file of this room adds its own."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge import __version__

app = typer.Typer(
    name="treebridge",
    help="Universal Dependencies trees for a language that has no treebank.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"treebridge {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; goes anywhere.")
    ] = False,
) -> None:
    """Universal Dependencies trees for a language that has no treebank."""
