"""The command `treebridge` itself, to which every file of this room adds its own."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treebridge import __version__
from treebridge.errors import OutputExists, TreebridgeError, in_one_sentence


class Commands(TyperGroup):
    """All commands; what a user can put right leaves them as an error of one sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and have written all that it printed."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except OutputExists as error:
            raise TreebridgeError(
                f"{error.message}; --force replaces it", file=error.file
            ) from error
        except (TreebridgeError, BrokenPipeError):
            raise
        except Exception as error:
            sentence = in_one_sentence(error)
            if sentence is None:
                raise
            raise sentence from error


app = typer.Typer(
    name="treebridge",
    cls=Commands,
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
