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
    if Path(files[0]).is_dir() and (Path(files[0]) / "bridge.safetensors").exists():
        from treebridge.show.bridge import inspect_bridge

        inspect_bridge(Path(files[0]), word or [], as_json=as_json)
        return
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


BRIDGE = "Folder of a bridge into this parser: parse the target language."
MODEL = "A parser's folder."
OTHER_ENCODER = "Where the parser's encoder is now, if it was moved."


@app.command()
def parse(
    files: Annotated[list[str], typer.Argument(help="CoNLL-U or raw text; - is standard input.")],
    model: Annotated[str, typer.Option(help=MODEL)],
    bridge: Annotated[str | None, typer.Option(help=BRIDGE)] = None,
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

    parser = load_parser(model, bridge, encoder, EncoderSettings(device=device, offline=offline))
    parse_files(parser, files, output, language)


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(help="system.conllu gold.conllu, or gold.conllu alone with --model."),
    ],
    model: Annotated[str | None, typer.Option(help=MODEL)] = None,
    bridge: Annotated[str | None, typer.Option(help=BRIDGE)] = None,
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

    parser = load_parser(model, bridge, encoder, EncoderSettings(device=device, offline=offline))
    evaluate_model(
        parser, model, files, convention=convention.value, detail=detail, as_json=as_json
    )


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


class Level(str, Enum):
    """What an anchor is the mean of."""

    word = "word"
    sense = "sense"
    occurrence = "occurrence"


class Weighting(str, Enum):
    """How much an anchor counts."""

    none = "none"
    sqrt = "sqrt"
    by_count = "count"


class Map(str, Enum):
    """What kind of map W is."""

    procrustes = "procrustes"
    least_squares = "least-squares"
    rcsls = "rcsls"


class AnchorWords(str, Enum):
    """Which words make anchors."""

    whole = "whole"
    all = "all"


class BridgePreset(str, Enum):
    """Named settings."""

    default = "default"
    paper = "paper"


@app.command()
def bridge(
    files: Annotated[list[str], typer.Argument(help="A bitext: one file, or two parallel ones.")],
    target: Annotated[str, typer.Option(help="Encoder of the target language.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the bridge.")],
    into: Annotated[Path | None, typer.Option(help="The parser it leads to.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Encoder of the source language, where there is no parser.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Take only so many pairs.")] = None,
    links: Annotated[
        str | None, typer.Option(help="Links in Pharaoh format, instead of our aligner.")
    ] = None,
    aligner: Annotated[Engine, typer.Option(help="Which aligner to train.")] = Engine.hmm,
    symmetrize: Annotated[
        Symmetrize, typer.Option(help="How two directions make one.")
    ] = Symmetrize.intersection,
    level: Annotated[Level, typer.Option(help="What an anchor is the mean of.")] = Level.sense,
    isotropy: Annotated[bool, typer.Option(help="Iterative normalization.")] = True,
    weighting: Annotated[Weighting, typer.Option(help="Weight by count.")] = Weighting.none,
    map_kind: Annotated[Map, typer.Option("--map", help="What kind of map.")] = Map.procrustes,
    anchor_words: Annotated[
        AnchorWords, typer.Option(help="whole: single pieces on both sides.")
    ] = AnchorWords.whole,
    preset: Annotated[
        BridgePreset, typer.Option(help="paper: fast-align, anchors normalised by themselves.")
    ] = BridgePreset.default,
    source_language: Annotated[str, typer.Option(help="Code of the source language.")] = "en",
    target_language: Annotated[str | None, typer.Option(help="Code of the target's.")] = None,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    seed: Annotated[int, typer.Option(help="For sampling and clustering.")] = 0,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    precision: Annotated[str, typer.Option(help="auto, fp32, bf16, fp16 or int8.")] = "auto",
    backend: Annotated[str, typer.Option(help="torch or onnx.")] = "torch",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
) -> None:
    """Fit the map that carries target vectors into a parser's space, and say how good it is."""
    from treebridge.bridge.bridge import BridgeSettings
    from treebridge.bridge.layout import CollectSettings
    from treebridge.bridge.make import MakeSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.show.bridge import bridge_files

    paper = preset is BridgePreset.paper
    bitext = Bitext(
        tuple(files),
        source_language=source_language,
        target_language=target_language,
        engine=words.value,
        limit=pairs,
    )
    settings = MakeSettings(
        fit=BridgeSettings(level.value, isotropy, weighting.value, map_kind.value, paper, seed),
        collect=CollectSettings(anchor_words=anchor_words.value, seed=seed),
        aligner=Engine.fast_align.value if paper else aligner.value,
        symmetrize=symmetrize.value,
        links=links,
    )
    encoding = EncoderSettings(layers, precision, backend, device, offline=offline)
    bridge_files(bitext, source, target, into, output, settings, encoding, as_json=as_json)


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
