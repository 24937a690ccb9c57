"""Names and help that several commands share."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Any

import typer

from treebridge.seeds import check_seed

LAYERS = "Layers to average: lastN, or a list such as 9,10,-1."
DEVICE = "auto, cpu, cuda or mps."
PRECISION = "How the encoder computes: auto, fp32, bf16, fp16, or int8 (CPU: faster)."
BACKEND = "What runs the encoder: torch or onnx."
BRIDGE = "Folder of a bridge into this parser: parse the target language."
MODEL = "A parser's folder, or a shipped model; `treebridge models` lists them."
LINKS = "Links as `align` writes them, instead of our aligner."
CONTRACTIONS = "Take words such as pt do = de o apart, as `parse` does."
TARGET_LANGUAGE = "Code of the target's; a name such as en-pt.tsv tells it, too."
OTHER_ENCODER = "Where the parser's encoder is now, if it was moved."

ENGINE = "Work in this process, or on a Ray cluster (extra ray)."
RAY_ADDRESS = "Of a running Ray cluster; else RAY_ADDRESS, else one is started here."
STORAGE = "Folder that all machines see, or an address such as s3://bucket/folder."
WORKERS = "Pieces of work at once; else one for each GPU, or processor."

FORCE = "Replace the output."


def seed_option(help_text: str) -> Any:
    """The option `--seed`."""
    return typer.Option(help=help_text, callback=_checked_seed)


def _checked_seed(seed: int) -> int:
    check_seed(seed)
    return seed


Force = Annotated[bool, typer.Option("--force", help=FORCE)]


def count(text: str) -> int:
    """A number of things as people write it: 60000, 60k, 50M, 1.5M, 1G."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text.strip().replace(",", ""))
    number = float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]] if found else 0
    if number < 1 or number != int(number):
        raise typer.BadParameter(f"{text} is no number of pairs; write 60000, 60k, 50M or 1G")
    return int(number)


Pairs = Annotated[
    int | None, typer.Option(parser=count, help="Take only so many pairs, such as 60k or 2M.")
]


CheckSides = Annotated[
    bool,
    typer.Option(
        "--check-sides/--no-check-sides", help="Refuse a bitext whose sides look swapped."
    ),
]


class Where(str, Enum):
    """Who does the work."""

    local = "local"
    ray = "ray"


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


class Preset(str, Enum):
    """How large a parser is and how long it is trained."""

    default = "default"
    small = "small"
    paper = "paper"


class Tags(str, Enum):
    """What a parser knows of parts of speech."""

    gold = "gold"
    none = "none"
    predicted = "predicted"
