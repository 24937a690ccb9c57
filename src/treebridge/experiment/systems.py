"""The rows of the table, each a named system.

A row names its encoder, whether its parser's space is isotropic, and how it crosses to the target.
To add a row, add it to `_ALL`; a new way of crossing is a class in `transfer.py`.

The four rows of the paper use means of raw vectors as anchors. The `+in` rows normalise the
anchors of each side separately (equation 3), and later target vectors with the means of the target
anchors; their parser is trained on vectors normalised over the treebank. The other two rows use no
normalisation. Settings of the table reproduce the authors' code where it differs from the paper
(`isotropy_from="input"`, `aligner="fast-align"`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treebridge.bridge.settings import BridgeSettings
from treebridge.errors import TreebridgeError
from treebridge.experiment.refining import Refined
from treebridge.experiment.transfer import (
    AnchorMean,
    Crossing,
    Fitted,
    Normalized,
    Straight,
    Unmapped,
)


@dataclass(frozen=True)
class System:
    """A row; rows with the same encoder and isotropy share one source parser per seed."""

    name: str
    about: str
    crossing: Crossing
    encoder: str = "own"  # role of the source and target encoders
    isotropy: bool = False  # whether the parser's space is isotropic


def _paper(level: str, isotropy: bool) -> Fitted:
    return Fitted(BridgeSettings.preset("paper", level=level, isotropy=isotropy))


_ALL = (
    System("delexicalized", "tags only, no words (McDonald et al. 2011)", Straight(), "blank"),
    System("fasttext", "pre-aligned static vectors", Unmapped(), "vectors"),
    System(
        "fasttext-rcsls",
        "static vectors, mapped with RCSLS on aligned words",
        Fitted(BridgeSettings.preset(level="word", isotropy=False, map="rcsls")),
        "vectors",
    ),
    System("multilingual-uncased", "mBERT uncased, no map", Straight(), "multilingual-uncased"),
    System("multilingual", "one multilingual encoder (mBERT cased), no map", Straight(),
           "multilingual"),
    System("multilingual+in", "the same, each language normalized with its own means",
           Normalized(), "multilingual", isotropy=True),
    System("unmapped", "two monolingual encoders, no map", Unmapped()),
    System("anchor-mean", "mean vectors paired by a dictionary (Schuster et al. 2019)",
           AnchorMean()),
    System("word", "word-level anchors (paper)", _paper("word", False)),
    System("sense", "sense-level anchors (paper)", _paper("sense", False)),
    System("word+in", "word-level anchors, isotropy (paper)", _paper("word", True), isotropy=True),
    System("sense+in", "sense-level anchors, isotropy (paper)", _paper("sense", True),
           isotropy=True),
    System("treebridge", "ours: a bridge into the parser's own space",
           Fitted(), isotropy=True),
    System("self-trained", "ours, self-trained on its most confident parses",
           Refined(links=False), isotropy=True),
    System("refined", "ours, refined on trees projected over word alignments",
           Refined(), isotropy=True),
)  # fmt: skip
SYSTEMS = {system.name: system for system in _ALL}
# Default rows: the paper's, the simplest baselines and ours.
DEFAULT = tuple(
    name for name in SYSTEMS if name not in ("fasttext-rcsls", "anchor-mean", "multilingual+in")
)


def choose_systems(names: Sequence[str] | None, tags: str) -> list[System]:
    """Systems by name; by default, those that work with these tags."""
    if names is None:
        names = [name for name in DEFAULT if tags == "gold" or name != "delexicalized"]
    if unknown := [name for name in names if name not in SYSTEMS]:
        raise TreebridgeError(f"unknown system {unknown[0]!r}; choose from {', '.join(SYSTEMS)}")
    return [SYSTEMS[name] for name in dict.fromkeys(names)]
