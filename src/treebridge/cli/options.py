"""Options shared by several commands; each has one name and one meaning everywhere.

Defaults and choices come from the settings classes, see `setting`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treebridge.alignment.settings import AlignerName
from treebridge.bridge.settings import (
    AnchorWords,
    BridgeSettings,
    CollectSettings,
    FitSettings,
    Level,
    Map,
)
from treebridge.encode.settings import BackendName, EncoderSettings, PrecisionName
from treebridge.parse.settings import PRESETS, ParserPreset, ParserSettings, TagsFrom
from treebridge.seeds import check_seed

if TYPE_CHECKING:
    from treebridge.corpus.bitext import Bitext

INPUT, OUTPUT, METHOD = "Input", "Output", "Method"
TRAINING, HARDWARE, CLUSTER, SERVER = "Training", "Hardware", "Cluster", "Server"


def option(help: str, *flags: str, panel: str = INPUT, **more: Any) -> Any:
    """An option in a panel of the help."""
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


def output_option(help: str) -> Any:
    """The option `-o`."""
    return option(help, "-o", "--output", panel=OUTPUT)


def setting(
    settings: type, name: str, help: str, *flags: str, panel: str = METHOD, **more: Any
) -> Any:
    """An option that sets a field of a settings class; a test compares defaults and choices."""
    made = option(help, *flags, panel=panel, **more)
    made.setting = (settings, name)
    return made


def by_preset(presets: Mapping[str, Any], name: str) -> str:
    """The default of a setting and the presets that differ: `hmm; paper: fast-align`."""
    values = {preset: _value(settings, name) for preset, settings in presets.items()}
    usual = values.pop("default")
    others = [f"{preset}: {value}" for preset, value in values.items() if value != usual]
    return "; ".join([str(usual), *others])


def _value(settings: Any, name: str) -> Any:
    parts = (getattr(settings, part, None) for part in ("fit", "collect"))
    return next(getattr(one, name) for one in (settings, *parts) if hasattr(one, name))


def seed_option(settings: type, help: str = "Random seed.", **more: Any) -> Any:
    """The option `--seed` of a settings class."""
    return setting(settings, "seed", help, callback=checked_seed, **more)


def checked_seed(seed: int | None) -> int | None:
    """Reject a seed that no random number generator accepts, before any work is done."""
    if seed is not None:
        check_seed(seed)
    return seed


def count(text: str) -> int:
    """Parse a count with an optional suffix: 60000, 60k, 50M, 1.5M, 1G."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text.strip().replace(",", ""))
    number = float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]] if found else 0
    if number < 1 or number != int(number):
        raise typer.BadParameter(f"{text} is not a number; write 60000, 60k, 50M or 1G")
    return int(number)


def parts(text: str | None) -> tuple[str, ...]:
    """The parts of a list with commas."""
    return tuple(part.strip() for part in text.split(",")) if text else ()


def split_models(files: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Files alone, and those that name a model: es-pt.tsv=es."""
    named = [file for file in files if "=" in file and not Path(file).exists()]
    parts = (file.rpartition("=") for file in named)
    return [file for file in files if file not in named], [
        (left, right) for left, _, right in parts
    ]


def weights_of(text: str, treebanks: int) -> tuple[float, ...] | None:
    """The weights of as many treebanks: 1,3; None for auto."""
    if text == "auto":
        return None
    try:
        weights = tuple(map(float, parts(text)))
    except ValueError:
        message = f"{text!r} are not weights; write auto, or numbers such as 1,3"
        raise typer.BadParameter(message) from None
    if len(weights) != treebanks:
        raise typer.BadParameter(
            f"{text!r} are {len(weights)} weights for {treebanks} treebanks; give one for each, "
            "the first treebank included"
        )
    return weights


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; a preset decides the others."""
    return {name: value for name, value in options.items() if value is not None}


def open_bitext(
    files: Sequence[str], source: str, target: str | None, words: str, pairs: int | None,
    contractions: bool,
) -> Bitext:  # fmt: skip
    """The bitext that a command was given."""
    from treebridge.corpus.bitext import Bitext

    return Bitext(
        tuple(files), source_language=source, target_language=target, engine=words, limit=pairs,
        contractions=contractions,
    )  # fmt: skip


# Input
Pairs = Annotated[
    int | None,
    option("Number of sentence pairs to use, such as 60k or 2M.", parser=count, metavar="N",
           show_default="all"),
]  # fmt: skip
SourceLanguage = Annotated[str, option("Source language code.")]
TargetLanguage = Annotated[
    str | None, option("Target language code; inferred from names like en-pt.tsv.")
]
CheckSides = Annotated[
    bool,
    setting(BridgeSettings, "check_sides", "Reject a bitext whose sides look swapped.",
            "--check-sides/--no-check-sides", panel=INPUT),
]  # fmt: skip
A_MODEL = "Model folder, or the name of a shipped model."
MODEL = option(A_MODEL)
Models = Annotated[
    list[str] | None,
    option("Model folder, or the name of a shipped model; several models vote.", "--model"),
]
ModelArgument = Annotated[str, typer.Argument(help=A_MODEL, metavar="MODEL")]
Language = Annotated[str | None, option("Language of raw text.", show_default="the model's")]
Lines = Annotated[bool, option("Text has one sentence per line.", "--lines")]
Tokens = Annotated[
    bool, option("Text has one sentence per line, words separated by spaces.", "--tokens")
]
Contracted = Annotated[
    str | None, option("Table of contractions, one per line: do<tab>de o.", "--mwt")
]
BridgeFolder = Annotated[
    str | None, option("Bridge folder from the target language into this parser.")
]
LexiconFile = Annotated[
    str | None,
    option("Lexicon: FORM, UPOS and, optionally, LEMMA, FEATS, DEPREL, separated by tabs; limits "
           "the tags of its words."),
]  # fmt: skip
MovedEncoder = Annotated[str | None, option("Path of the parser's encoder, if it has moved.")]
Links = Annotated[
    str | None, option("Word alignments in Pharaoh format (i-j); skips our own aligner.")
]
Dev = Annotated[
    str | None,
    option("Treebank for choosing the best epoch.", show_default="every 20th sentence, held out"),
]
FurtherTreebanks = Annotated[
    list[str] | None,
    option("Further treebank and the bridge from its language into this space; can be repeated. "
           "auto:FOLDER chooses from the treebanks and bridges in a folder.", "--also",
           metavar="TREEBANK=BRIDGE"),
]  # fmt: skip
Weights = Annotated[
    str,
    option("Passes over each treebank per epoch, separated by commas, the first treebank included; "
           "auto: more for small ones.", panel=TRAINING),
]  # fmt: skip
# Output
OutputFile = Annotated[
    Path | None,
    option("Output file.", "-o", "--output", panel=OUTPUT, show_default="standard output"),
]
Json = Annotated[bool, option("Print JSON.", "--json", panel=OUTPUT)]
Force = Annotated[bool, option("Overwrite the output.", "--force", panel=OUTPUT)]
# Method
Tokenizer = Annotated[
    Literal["rules", "spaces", "spacy"], option("Tokenizer to use.", panel=METHOD)
]
CONTRACTIONS = "Split contractions (pt do → de o), as `parse` does."
Contractions = Annotated[
    bool, option(CONTRACTIONS, "--contractions/--no-contractions", panel=METHOD)
]
Aligner = Annotated[AlignerName, setting(BridgeSettings, "aligner", "Word aligner.")]
LEVEL = "Anchors: one per word, per sense or per occurrence."
AnchorLevel = Annotated[Level, setting(FitSettings, "level", LEVEL)]
ForecastText = Annotated[
    list[str] | None,
    option("Target text like what you will parse, to forecast the LAS for (default: text like the "
           "bitext).", "--text"),
]  # fmt: skip
MAP = "Linear map; auto: the one that agrees best with held-out source trees."
MapKind = Annotated[Map, setting(FitSettings, "map", MAP, "--map")]
ANCHOR_WORDS = "Words used as anchors; whole: only words that are a single piece on both sides."
Anchors = Annotated[AnchorWords, setting(CollectSettings, "anchor_words", ANCHOR_WORDS)]
LAYERS = "Layers to average: lastN, or a list such as 9,10,-1."
Layers = Annotated[str, setting(EncoderSettings, "layers", LAYERS)]
# Training
Preset = Annotated[
    ParserPreset,
    option("Parser preset; default: under an hour on two cores; small: minutes.", panel=TRAINING),
]
Tags = Annotated[
    TagsFrom | None,
    setting(ParserSettings, "tags", "Part-of-speech tags: predicted by the parser, gold or none.",
            panel=TRAINING, show_default=by_preset(PRESETS, "tags")),
]  # fmt: skip
Epochs = Annotated[
    int | None,
    setting(ParserSettings, "epochs", "Number of epochs.", panel=TRAINING, min=1,
            show_default="the preset's"),
]  # fmt: skip
Seed = Annotated[int, seed_option(ParserSettings, panel=TRAINING)]
Resume = Annotated[
    bool, option("Resume an interrupted run.", "--resume/--no-resume", panel=TRAINING)
]
# Hardware and cluster
Device = Annotated[
    str, setting(EncoderSettings, "device", "Device: auto, cpu, cuda or mps.", panel=HARDWARE)
]
Precision = Annotated[
    PrecisionName,
    setting(EncoderSettings, "precision", "Encoder precision; int8 is faster on CPUs.",
            panel=HARDWARE),
]  # fmt: skip
Backend = Annotated[
    BackendName, setting(EncoderSettings, "backend", "Encoder runtime.", panel=HARDWARE)
]
Offline = Annotated[
    bool,
    setting(EncoderSettings, "offline", "Never download anything.", "--offline", panel=HARDWARE),
]
Engine = Annotated[
    Literal["local", "ray"],
    option("Run in this process, or on a Ray cluster (needs the extra `ray`).", panel=CLUSTER),
]
RayAddress = Annotated[
    str | None,
    option("Address of a running Ray cluster.", panel=CLUSTER,
           show_default="RAY_ADDRESS, otherwise one is started here"),
]  # fmt: skip
Workers = Annotated[
    int | None,
    option("Number of parallel tasks.", panel=CLUSTER, min=1, show_default="one per GPU or core"),
]
# Server
Port = Annotated[int, option("Port; 0 picks a free one.", panel=SERVER, min=0, max=65535)]
AllowHost = Annotated[
    list[str] | None,
    option("Additional host name to accept, such as a proxy's; repeatable.", panel=SERVER),
]


def host_option(others: str) -> Any:
    """The option `--host`; `others` says what other machines need or lack."""
    return option(f"Address to listen on; 0.0.0.0 admits other machines, {others}.", panel=SERVER)
