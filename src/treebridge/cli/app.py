"""The command `treebridge`, to which the other modules add their subcommands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from treebridge import __version__
from treebridge.cli.command import command as command_class
from treebridge.errors import OutputExists, TreebridgeError, in_one_sentence
from treebridge.progress import QUIET, Progress

F = TypeVar("F", bound=Callable[..., Any])


class Commands(TyperGroup):
    """All commands; errors that a user can fix become one sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command and flush its output."""
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
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(
    name: str, example: str, *, to: typer.Typer = app, renamed: dict[str, str] | None = None,
    many: tuple[str, ...] = (),
) -> Callable[[F], F]:  # fmt: skip
    """Register a command whose help ends with an example."""
    kind = command_class(renamed, frozenset(many))
    return to.command(name, cls=kind, epilog=f"Example: {example}")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"treebridge {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Hide progress and summaries; accepted anywhere."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; accepted anywhere.")
    ] = False,
) -> None:
    """Universal Dependencies trees for a language that has no treebank."""
    _asked["quiet"] = quiet


_asked = {"quiet": False}  # set by each command


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    return _asked["quiet"]


def progress(*, verbose: bool = True) -> Progress:
    """Progress on the terminal, or none with `--quiet`; without `verbose` no lines, only bars."""
    if is_quiet():
        return QUIET
    from treebridge.show.progress import Terminal

    return Terminal(verbose=verbose)


def show(render: Callable[..., None], result: Any, **options: Any) -> None:
    """Render a result, unless `--quiet` was given."""
    if not is_quiet():
        render(result, **options)


def note(text: str) -> None:
    """Print a line on stderr, unless `--quiet` was given."""
    if not is_quiet():
        print(text, file=sys.stderr)


def print_json(figures: Any) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(figures, ensure_ascii=False))
