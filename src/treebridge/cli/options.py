"""Options that several commands share; each has one name and one meaning everywhere.

Choices and defaults come from the settings classes, see `setting`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from treebridge.bridge.settings import BridgeSettings
from treebridge.encode.settings import BackendName, EncoderSettings, PrecisionName
from treebridge.seeds import check_seed

INPUT, OUTPUT, METHOD = "Input", "Output", "Method"
TRAINING, HARDWARE, CLUSTER = "Training", "Hardware", "Cluster"


def option(help: str, *flags: str, panel: str = INPUT, **more: Any) -> Any:
    """An option in a panel of the help."""
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


def setting(
    settings: type, name: str, help: str, *flags: str, panel: str = METHOD, **more: Any
) -> Any:
    """An option that sets a field of a settings class; a test compares defaults and choices."""
    made = option(help, *flags, panel=panel, **more)
    made.setting = (settings, name)
    return made


def by_preset(presets: Mapping[str, Any], name: str) -> str:
    """The default of a setting, and where another preset differs: `hmm; paper: fast-align`."""
    values = {preset: _value(settings, name) for preset, settings in presets.items()}
    usual = values.pop("default")
    others = [f"{preset}: {value}" for preset, value in values.items() if value != usual]
    return "; ".join([str(usual), *others])


def _value(settings: Any, name: str) -> Any:
    parts = (getattr(settings, part, None) for part in ("fit", "collect"))
    return next(getattr(one, name) for one in (settings, *parts) if hasattr(one, name))


def checked_seed(seed: int | None) -> int | None:
    """Refuse a seed that no random number generator takes, before any work is done."""
    if seed is not None:
        check_seed(seed)
    return seed


def count(text: str) -> int:
    """A number of things as people write it: 60000, 60k, 50M, 1.5M, 1G."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text.strip().replace(",", ""))
    number = float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]] if found else 0
    if number < 1 or number != int(number):
        raise typer.BadParameter(f"{text} is not a number; write 60000, 60k, 50M or 1G")
    return int(number)


def given(**options: Any) -> dict[str, Any]:
    """The options that were given, so that a preset decides the others."""
    return {name: value for name, value in options.items() if value is not None}


Pairs = Annotated[
    int | None, option("Use only the first pairs, such as 60k or 2M.", parser=count, metavar="N")
]
SourceLanguage = Annotated[str, option("Source language code.")]
TargetLanguage = Annotated[
    str | None, option("Target language code; inferred from names like en-pt.tsv.")
]
Tokenizer = Annotated[
    Literal["rules", "spaces", "spacy"], option("Tokenizer to use.", panel=METHOD)
]
Contractions = Annotated[
    bool,
    option(
        "Split contractions (pt do → de o), as `parse` does.",
        "--contractions/--no-contractions",
        panel=METHOD,
    ),
]
CheckSides = Annotated[
    bool,
    setting(
        BridgeSettings,
        "check_sides",
        "Refuse a bitext whose sides look swapped.",
        "--check-sides/--no-check-sides",
        panel=INPUT,
    ),
]
Json = Annotated[bool, option("Print JSON.", "--json", panel=OUTPUT)]
Force = Annotated[bool, option("Overwrite the output.", "--force", panel=OUTPUT)]
Model = Annotated[str, option("Model folder, or the name of a shipped model.")]
BridgeFolder = Annotated[
    str | None, option("Bridge into this parser, to parse the target language.")
]
MovedEncoder = Annotated[str | None, option("Where the parser's encoder is now, if it moved.")]
Seed = Annotated[int, option("Random seed: the same seed gives the same result.", panel=METHOD)]
Links = Annotated[str | None, option("Alignments in Pharaoh format (i-j), instead of our aligner.")]
Layers = Annotated[
    str, setting(EncoderSettings, "layers", "Layers to average: lastN, or a list like 9,10,-1.")
]
Device = Annotated[
    str, setting(EncoderSettings, "device", "auto, cpu, cuda or mps.", panel=HARDWARE)
]
Precision = Annotated[
    PrecisionName,
    setting(
        EncoderSettings,
        "precision",
        "Precision of the encoder; int8 is faster on CPUs.",
        panel=HARDWARE,
    ),
]
Backend = Annotated[
    BackendName, setting(EncoderSettings, "backend", "What runs the encoder.", panel=HARDWARE)
]
Offline = Annotated[
    bool, setting(EncoderSettings, "offline", "Download nothing.", "--offline", panel=HARDWARE)
]
Engine = Annotated[
    Literal["local", "ray"],
    option("Work in this process or on a Ray cluster (extra ray).", panel=CLUSTER),
]
RayAddress = Annotated[
    str | None,
    option(
        "Address of a running Ray cluster; default: RAY_ADDRESS, else one is started here.",
        panel=CLUSTER,
    ),
]
Workers = Annotated[
    int | None,
    option("Number of parallel tasks; default: one per GPU or core.", panel=CLUSTER, min=1),
]
