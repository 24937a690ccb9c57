"""The command line: one thin function per command, no logic."""

from __future__ import annotations

import os
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge import __version__
from treebridge.errors import TreebridgeError

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


class Kind(str, Enum):
    """What `inspect` takes a file for."""

    treebank = "treebank"
    bitext = "bitext"
    text = "text"


@app.command()
def inspect(
    files: Annotated[
        list[str], typer.Argument(help="CoNLL-U, bitext or text; - is standard input.")
    ],
    kind: Annotated[Kind | None, typer.Option("--as", help="Take the files for this.")] = None,
    parallel: Annotated[
        bool, typer.Option("--parallel", help="The two files are the two sides of one bitext.")
    ] = False,
    source: Annotated[str, typer.Option(help="Language of a bitext's source side.")] = "en",
    target: Annotated[str | None, typer.Option(help="Language of its target side.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
) -> None:
    """What is in a treebank, a bitext or a text: sizes, lengths, labels, filters, problems."""
    from treebridge.show.inspect import inspect_files

    problems = inspect_files(
        files,
        kind=kind.value if kind else None,
        parallel=parallel,
        languages=(source, target),
        as_json=as_json,
    )
    if problems:
        more = f" (and {len(problems) - 1:,} more problems)" if len(problems) > 1 else ""
        raise TreebridgeError(problems[0] + more)


class Engine(str, Enum):
    """Which aligner `align` trains."""

    hmm = "hmm"
    fast_align = "fast-align"


class Symmetrize(str, Enum):
    """How `align` makes one set of links of two directions."""

    intersection = "intersection"
    union = "union"
    grow_diag = "grow-diag"
    grow_diag_final = "grow-diag-final"
    grow_diag_final_and = "grow-diag-final-and"
    forward = "forward"
    reverse = "reverse"


class Words(str, Enum):
    """Who finds the words of a bitext."""

    rules = "rules"
    spaces = "spaces"
    spacy = "spacy"


@app.command()
def align(
    files: Annotated[
        list[str], typer.Argument(help="A bitext: one file, or two parallel ones; - is stdin.")
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Links as i-j, a line a pair; - is standard output."),
    ] = None,
    engine: Annotated[
        Engine | None, typer.Option(help="Which aligner to train.", show_default="hmm")
    ] = None,
    symmetrize: Annotated[
        Symmetrize, typer.Option(help="How two directions make one.")
    ] = Symmetrize.intersection,
    one_to_one: Annotated[
        bool, typer.Option(help="Leave out links that share a word with another.")
    ] = True,
    score: Annotated[
        Path | None, typer.Option(help="Gold links: source, tab, target, tab, i-j.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Take only so many pairs.")] = None,
    source: Annotated[str, typer.Option(help="Language of the source side.")] = "en",
    target: Annotated[str | None, typer.Option(help="Language of the target side.")] = None,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    model: Annotated[
        Path | None, typer.Option(help="Use this trained model instead of training one.")
    ] = None,
    save_model: Annotated[
        Path | None, typer.Option(help="Keep the trained model in this folder.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Cores to use.", show_default="all")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
) -> None:
    """Which word translates which: links for a bitext, or a score against gold links."""
    from treebridge.show.align import Request, align_files

    request = Request(
        method=symmetrize.value,
        one_to_one=one_to_one,
        engine=engine.value if engine else None,
        model=model,
        save_model=save_model,
        output=output,
        gold=score,
        threads=threads,
        as_json=as_json,
    )
    align_files(
        files,
        request,
        source_language=source,
        target_language=target,
        engine=words.value,
        limit=pairs,
    )


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Where the made languages are written.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Another seed, other languages.")] = 1,
) -> None:
    """The whole story on artificial languages, offline."""
    from treebridge.experiment.demo import run_demo

    run_demo(folder, seed)


def main() -> None:
    """Entry point: errors are one sentence on stderr and exit code 2."""
    debug = "--debug" in sys.argv or bool(os.environ.get("TREEBRIDGE_DEBUG"))
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(args=arguments, prog_name="treebridge")
    except TreebridgeError as error:
        if debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
