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


LAYERS = "Layers to average: lastN, or a list such as 9,10,-1."
DEVICE = "auto, cpu, cuda or mps."


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
    word: Annotated[
        list[str] | None, typer.Option(help="With --encoder: how a target word's contexts group.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="Folder or hub name of an encoder.")] = None,
    pairs: Annotated[int | None, typer.Option(help="Look at so many pairs only.")] = None,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """What is in a treebank, a bitext or a text: sizes, lengths, labels, filters, problems."""
    if word or encoder:
        from treebridge.encode.encoder import EncoderSettings
        from treebridge.show.contexts import inspect_words

        settings = EncoderSettings(layers=layers, device=device, offline=offline)
        inspect_words(tuple(files), word or [], encoder, settings, (source, target), pairs, as_json)
        return
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


class Rules(str, Enum):
    """Which words and which labels `evaluate` counts."""

    paper = "paper"
    conll18 = "conll18"


class Tags(str, Enum):
    """What a parser knows of parts of speech."""

    gold = "gold"
    none = "none"
    predicted = "predicted"


class Preset(str, Enum):
    """How large a parser is and how long it is trained."""

    default = "default"
    small = "small"
    paper = "paper"


@app.command()
def train(
    treebank: Annotated[str, typer.Argument(help="CoNLL-U with trees.")],
    encoder: Annotated[str, typer.Option(help="Folder, hub name or file of vectors.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The parser's folder.")],
    dev: Annotated[
        str | None, typer.Option(help="Trees that choose the best epoch; else every 20th is kept.")
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="default: under an hour on two cores; small: minutes.")
    ] = Preset.default,
    tags: Annotated[
        Tags | None, typer.Option(help="Parts of speech: the parser's own (predicted) or given.")
    ] = None,
    isotropy: Annotated[bool, typer.Option(help="Normalise the encoder's vectors.")] = True,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same parser.")] = 1,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = True,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """Train a parser on a treebank, in the space of an encoder."""
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.parse.settings import ParserSettings
    from treebridge.show.train import train_parser

    chosen = {"tags": tags and tags.value, "isotropy": None if isotropy else 0, "epochs": epochs}
    changes = {name: value for name, value in chosen.items() if value is not None}
    settings = ParserSettings.preset(preset.value, seed=seed, **changes)
    encoder_settings = EncoderSettings(layers=layers, device=device, offline=offline)
    train_parser(treebank, dev, encoder, output, settings, encoder_settings, resume=resume)


MODEL = "A parser's folder."
OTHER_ENCODER = "Where the parser's encoder is now, if it was moved."


@app.command()
def parse(
    files: Annotated[list[str], typer.Argument(help="CoNLL-U or raw text; - is standard input.")],
    model: Annotated[str, typer.Option(help=MODEL)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file instead of standard output.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Of raw text, such as pt.")] = None,
    encoder: Annotated[str | None, typer.Option(help=OTHER_ENCODER)] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """Give each sentence its tree; UPOS is filled in where there is none."""
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.show.parse import load_parser, parse_files

    parser = load_parser(model, encoder, EncoderSettings(device=device, offline=offline))
    parse_files(parser, files, output, language)


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(help="system.conllu gold.conllu, or gold.conllu alone with --model."),
    ],
    model: Annotated[str | None, typer.Option(help=MODEL)] = None,
    convention: Annotated[
        Rules,
        typer.Option(
            help="paper: without PUNCT and SYM, full labels; conll18: as the official script."
        ),
    ] = Rules.paper,
    detail: Annotated[bool, typer.Option("--detail", help="Also by label and by length.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
    encoder: Annotated[str | None, typer.Option(help=OTHER_ENCODER)] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """How good the trees of a file or of a parser are: UAS, LAS, CLAS, UPOS, UEM and LEM."""
    from treebridge.show.evaluate import evaluate_files, evaluate_model

    if model is None:
        evaluate_files(files, convention=convention.value, detail=detail, as_json=as_json)
        return
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.show.parse import load_parser

    parser = load_parser(model, encoder, EncoderSettings(device=device, offline=offline))
    evaluate_model(
        parser, model, files, convention=convention.value, detail=detail, as_json=as_json
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


cache = typer.Typer(no_args_is_help=True, help="Vectors and exported encoders kept on disk.")
app.add_typer(cache, name="cache")


@cache.command("list")
def cache_list() -> None:
    """What is in the cache, and how large."""
    from treebridge.show.cache import show_cache

    show_cache()


@cache.command("clear")
def cache_clear() -> None:
    """Empty the cache; everything in it can be made again."""
    from treebridge.encode.cache import clear_cache

    print(f"freed {clear_cache() / 1e6:,.1f} MB")


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
