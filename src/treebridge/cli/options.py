"""Names and help that several commands share."""

from __future__ import annotations

from enum import Enum

LAYERS = "Layers to average: lastN, or a list such as 9,10,-1."
DEVICE = "auto, cpu, cuda or mps."
PRECISION = "How the encoder computes: auto, fp32, bf16, fp16, or int8 (CPU: faster)."
BACKEND = "What runs the encoder: torch or onnx."
BRIDGE = "Folder of a bridge into this parser: parse the target language."
MODEL = "A parser's folder, or a shipped model; `treebridge models` lists them."
CONTRACTIONS = "Take words such as pt do = de o apart, as `parse` does."
TARGET_LANGUAGE = "Code of the target's; a name such as en-pt.tsv tells it, too."
OTHER_ENCODER = "Where the parser's encoder is now, if it was moved."


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
